/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/lib/kernel_copy.c csrc/common/copy.c
 *
 * Copies to and from a child by the kernel: at once, through a buffer, and in the way chosen here.
 */
#include "veo/lib/kernel_copy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

typedef int copy_function(pid_t pid, char *host, uint64_t addr, size_t size, bool write);

enum { BYTES = 200 << 10, MARK = 0x5A };

/* The child has these pages too, each process its own. */
static char *shared, *host;
static pid_t child;

static void start_child(void)
{
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

static void stop_child(void)
{
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
}

static void there_and_back(copy_function *copy, size_t there, size_t here, size_t size)
{
    static char sent[BYTES];
    uint64_t seed = size + there;
    for (size_t i = 0; i < size; i++)
        sent[i] = (char)check_random(&seed);
    const uint64_t addr = (uint64_t)(uintptr_t)shared + there;

    memcpy(host + here, sent, size);
    CHECK(copy(child, host + here, addr, size, true) == 0);
    memset(host, MARK, here + size + 1);
    CHECK(copy(child, host + here, addr, size, false) == 0);

    CHECK(memcmp(host + here, sent, size) == 0);
    CHECK(here == 0 || host[here - 1] == MARK);
    CHECK(host[here + size] == MARK);
}

static void every_offset(copy_function *copy)
{
    static const size_t offsets[] = {0, 1, 16, 2048, 4080};
    static const size_t sizes[] = {1, 1024, 4096, 65536, 65537, 150001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t there = 0; there < 5; there++)
            for (size_t here = 0; here < 5; here++)
                there_and_back(copy, offsets[there], offsets[here], sizes[i]);
}

static void errors(copy_function *copy)
{
    const uint64_t end = (uint64_t)(uintptr_t)shared + BYTES;
    CHECK(copy(child, host, end - 5000, 10000, false) == EFAULT);
    CHECK(copy(child, host, end - 5000, 10000, true) == EFAULT);
    CHECK(copy(child, host + 16, end - 100000, 190000, false) == EFAULT);
    CHECK(copy(child, host, 4096, 4096, false) == EFAULT);
}

int main(void)
{
    static copy_function *const ways[] = {veolib_kernel_copy_at_once, veolib_kernel_copy_by_buffer,
                                          veolib_kernel_copy};
    const size_t guard = 1 << 20;
    shared = mmap(NULL, BYTES + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    host = malloc(BYTES);
    CHECK(shared != MAP_FAILED && host);
    CHECK(mprotect(shared + BYTES, guard, PROT_NONE) == 0);
    start_child();

    if (veolib_kernel_copy_at_once(child, host, (uint64_t)(uintptr_t)shared, 1, false) == EPERM) {
        puts("this system does not let a process reach into its child");
    } else {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            every_offset(ways[i]);
            errors(ways[i]);
        }
    }

    stop_child();
    free(host);
    puts("ok");
    return 0;
}
