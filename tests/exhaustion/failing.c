/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing.c: see failing.h. Built with FAILING_PRELOADED it is a library for workers: FAILING_AT
 * says which of their allocations fails, and a file FAILING_REPORT is made when it does.
 */
#include "failing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_long countdown; /* the allocation that takes it to 0 fails; 0: none does */
static atomic_bool goes_on;   /* and those after it */
static atomic_long live, failed;
static _Thread_local bool spared __attribute__((tls_model("initial-exec")));

void failing_spare(bool value)
{
    spared = value;
}

static void on_failure(void);

static bool fails(int error)
{
    if (spared || atomic_load(&countdown) <= 0)
        return false;
    if (atomic_fetch_sub(&countdown, 1) != 1)
        return false;
    if (atomic_load(&goes_on))
        atomic_store(&countdown, 1);
    if (atomic_fetch_add(&failed, 1) == 0)
        on_failure();
    errno = error;
    return true;
}

/* --- what fails --- */

static void *counted(void *block)
{
    if (block != NULL)
        atomic_fetch_add(&live, 1);
    return block;
}

void *malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return malloc(size);
    return fails(ENOMEM) ? NULL : __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&live, 1);
    __libc_free(block);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t size)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int eventfd(unsigned value, int flags)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}

int pipe2(int fds[2], int flags)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

int socket(int domain, int type, int protocol)
{
    return fails(ENOMEM) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    static create_function *create;
    if (fails(EAGAIN))
        return EAGAIN;
    if (create == NULL)
        create = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}

#ifdef FAILING_PRELOADED

static const char *report;

static void on_failure(void)
{
    if (report != NULL)
        close((int)syscall(SYS_open, report, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

__attribute__((constructor)) static void arm(void)
{
    const char *number = getenv("FAILING_AT");
    report = getenv("FAILING_REPORT");
    if (number != NULL && strstr(program_invocation_short_name, "veorun") != NULL)
        atomic_store(&countdown, atol(number));
}

#else

/* --- what must not be left --- */

struct held {
    long blocks, descriptors, threads, mappings;
};

static long count_entries(const char *folder)
{
    long n = 0;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return -1;
    while (readdir(entries) != NULL)
        n++;
    closedir(entries);
    return n;
}

static long count_mappings(void)
{
    char line[512];
    long n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        n += strstr(line, "/memfd:") != NULL || strstr(line, "/dev/zero") != NULL;
    if (maps != NULL)
        fclose(maps);
    return n;
}

static struct held held_now(void)
{
    return (struct held){.blocks = atomic_load(&live),
                         .descriptors = count_entries("/proc/self/fd"),
                         .threads = count_entries("/proc/self/task"),
                         .mappings = count_mappings()};
}

static bool is_more(struct held a, struct held b, long by)
{
    return a.blocks >= b.blocks + by || a.descriptors >= b.descriptors + by ||
           a.threads >= b.threads + by || a.mappings >= b.mappings + by;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Threads of a library may end a little later than what they worked for. */
static struct held settle(struct held wanted)
{
    struct held now = held_now();
    for (double start = seconds(); is_more(now, wanted, 1) && seconds() - start < 0.5;) {
        usleep(200);
        now = held_now();
    }
    return now;
}

/* --- the sweep --- */

static const char *const reasons[] = {"memory", "allocate", "thread", "process", "ENOMEM"};
static long number, errors;
static bool bad, sweeping;

/* Shorter than any limit in the libraries after which they go on by themselves. */
#ifndef LIMIT_S
#define LIMIT_S 15
#endif
enum { REPEATS = 4 };

static void on_failure(void)
{
    if (getenv("FAILING_TRACE") == NULL)
        return;
    void *frames[24];
    spared = true;
    backtrace_symbols_fd(frames, backtrace(frames, 24), STDOUT_FILENO);
    spared = false;
}

bool told(bool ok, const char *call, const char *text)
{
    if (ok || !sweeping)
        return ok;
    spared = true;
    if (atomic_load(&failed) == 0) {
        printf("%ld: %s failed and nothing was made to: %s\n", number, call, text);
        bad = true;
    } else if (errors++ == 0) {
        bool reason = false;
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
            reason = reason || strstr(text, reasons[i]) != NULL;
        if (!reason)
            printf("%ld: %s does not say that memory is missing: '%s'\n", number, call, text);
        bad = bad || !reason;
    }
    spared = false;
    return false;
}

bool failure_told(void)
{
    return errors != 0;
}

static void on_alarm(int signal)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%ld: hangs\n", number);
    if (write(STDOUT_FILENO, text, (size_t)n) == n)
        signal = SIGKILL;
    kill(getpid(), signal);
}

static bool pass(void (*scenario)(void), long at)
{
    number = at;
    errors = 0;
    atomic_store(&failed, 0);
    atomic_store(&countdown, at);
    alarm(LIMIT_S);
    scenario();
    alarm(0);
    atomic_store(&countdown, 0);
    return atomic_load(&failed) != 0;
}

/*
 * A library keeps threads and memory for later, and some of it for each job; what is lost is lost
 * again each time.
 */
static void look_for_leaks(void (*scenario)(void), long at, long kept, struct held *before)
{
    before->blocks += kept;
    struct held first = settle(*before), last = first, wanted = first;
    for (int i = 0; i < REPEATS && is_more(first, *before, 1); i++) {
        pass(scenario, at);
        wanted.blocks += kept;
        last = settle(wanted);
    }
    if (is_more(last, wanted, REPEATS)) {
        printf("%ld: lost are %ld blocks, %ld descriptors, %ld threads, %ld mappings\n", at,
               (last.blocks - wanted.blocks) / REPEATS,
               (last.descriptors - first.descriptors) / REPEATS,
               (last.threads - first.threads) / REPEATS,
               (last.mappings - first.mappings) / REPEATS);
        bad = true;
    }
    *before = last;
}

/* Blocks that a scenario without failures leaves each time. */
static long measure_kept(void (*scenario)(void))
{
    long kept = LONG_MAX;
    for (int i = 0; i < REPEATS; i++) {
        struct held before = held_now();
        pass(scenario, 0);
        long more = settle(before).blocks - before.blocks;
        kept = more < kept ? more : kept;
    }
    return kept > 0 ? kept : 0;
}

int sweep(int argc, char *argv[], void (*scenario)(void))
{
    if (argc != 4)
        return 2;
    long first = atol(argv[2]), step = atol(argv[3]), tried = 0, reported = 0;
    sweeping = true;
    signal(SIGALRM, on_alarm);
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    for (int i = 0; i < 3; i++)
        pass(scenario, 0);
    const long kept = measure_kept(scenario);
    atomic_store(&goes_on, strcmp(argv[1], "on") == 0);

    struct held before = held_now();
    long at = first;
    for (; pass(scenario, at); at += step) {
        tried++;
        reported += errors != 0;
        look_for_leaks(scenario, at, kept, &before);
        if (waitpid(-1, NULL, WNOHANG) >= 0) {
            printf("%ld: a child is left\n", at);
            bad = true;
        }
    }
    pass(scenario, 0);
    printf("%ld allocations, %ld failed, %ld told, %ld blocks kept each time\n", at - 1, tried,
           reported, kept);
    return bad;
}

#endif
