/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/kernel_copy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/copy.h"

#define PAGE ((size_t)4096)
#define BUFFER ((size_t)64 << 10)

int veolib_kernel_copy_at_once(pid_t pid, char *host, uint64_t addr, size_t size, bool write)
{
    while (size > 0) {
        struct iovec local = {.iov_base = host, .iov_len = size};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)addr, .iov_len = size};
        ssize_t n = write ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                          : process_vm_readv(pid, &local, 1, &remote, 1, 0);
        if (n < 0)
            return errno;
        if (n == 0)
            return EFAULT;
        host += n;
        addr += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int veolib_kernel_copy_by_buffer(pid_t pid, char *host, uint64_t addr, size_t size, bool write)
{
    char *pages = aligned_alloc(PAGE, BUFFER + PAGE);
    if (pages == NULL)
        return veolib_kernel_copy_at_once(pid, host, addr, size, write);

    int error = 0;
    for (size_t done = 0; done < size && !error;) {
        /* Where ADDR is in its page: source and destination are level for the kernel. */
        char *piece = pages + (addr + done) % PAGE;
        const size_t n = size - done < BUFFER ? size - done : BUFFER;
        if (write)
            copy_memory(piece, host + done, n);
        error = veolib_kernel_copy_at_once(pid, piece, addr + done, n, write);
        if (!write && !error)
            copy_memory(host + done, piece, n);
        done += n;
    }
    free(pages);
    return error;
}

#define PROBE_BYTES ((size_t)32 << 10)
#define PROBE_ROUNDS 5
#define PROBE_OFFSET 16 /* of the destination behind the source */
#define SUFFERS_FROM 4  /* times slower; up to 27 was measured, and less than 2 elsewhere */
/* A destination less than this behind the source counts as a bad one. */
#define BEHIND (PAGE / 2)

/* The shortest time of a copy inside this process by the kernel; negative if it refuses. */
static int64_t probe(char *to, const char *from)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < PROBE_ROUNDS; i++) {
        int64_t start = clock_now();
        if (veolib_kernel_copy_at_once(getpid(), to, (uint64_t)(uintptr_t)from, PROBE_BYTES, false))
            return -1;
        int64_t taken = clock_now() - start;
        least = taken < least ? taken : least;
    }
    return least;
}

static bool measure_suffering(void)
{
    char *pages = aligned_alloc(PAGE, 2 * (PROBE_BYTES + PAGE));
    if (pages == NULL)
        return false;

    memset(pages, 0, 2 * (PROBE_BYTES + PAGE));
    char *to = pages + PROBE_BYTES + PAGE;
    const int64_t level = probe(to, pages), behind = probe(to + PROBE_OFFSET, pages);
    free(pages);
    return level > 0 && behind > SUFFERS_FROM * level;
}

/* Measured at the first call. */
static bool kernel_suffers(void)
{
    enum { UNKNOWN, NO, YES };
    static _Atomic int known;
    int found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == UNKNOWN) {
        found = measure_suffering() ? YES : NO;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found == YES;
}

int veolib_kernel_copy(pid_t pid, char *host, uint64_t addr, size_t size, bool write)
{
    const uint64_t local = (uint64_t)(uintptr_t)host;
    const size_t behind = (write ? addr - local : local - addr) % PAGE;
    if (size >= COPY_VECTORS_LEAST && behind > 0 && behind < BEHIND && kernel_suffers())
        return veolib_kernel_copy_by_buffer(pid, host, addr, size, write);
    return veolib_kernel_copy_at_once(pid, host, addr, size, write);
}
