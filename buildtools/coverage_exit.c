/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of processes that end by _exit(), which gcov's own hook never sees: workers that crash or
 * that are told to go, probes, forked children.
 *
 * Built into each library and program of a build for coverage, and preloaded as a library of its
 * own (OFFCHIP_COVERAGE_PRELOADED), whose _exit() calls the dump of every one that is loaded. A
 * process that a signal ends is not counted.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void dump_function(void);

/* Of libgcov, one per library. */
void __gcov_dump(void);

#ifdef OFFCHIP_COVERAGE_PRELOADED

enum { MAX_DUMPS = 4096 };

static dump_function *dumps[MAX_DUMPS];
static size_t count;
static pid_t process; /* whose memory this is */

void offchip_coverage_register(dump_function *dump);
void offchip_coverage_register(dump_function *dump)
{
    size_t index = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
    if (index < MAX_DUMPS)
        dumps[index] = dump;
}

static void dump_all(void)
{
    size_t known = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < known && i < MAX_DUMPS; i++)
        if (dumps[i] != NULL)
            dumps[i]();
}

static void note_process(void)
{
    process = getpid();
}

__attribute__((constructor)) static void begin(void)
{
    note_process();
    pthread_atfork(NULL, NULL, note_process);
}

/* A child of vfork(), whose command was not found, would write its parent's counts, which then are
 * not written again. */
void _exit(int status)
{
    if (getpid() == process)
        dump_all();
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("_exit")));

#else

__attribute__((constructor)) static void announce(void)
{
    void (*announce_dump)(dump_function *) =
        (void (*)(dump_function *))dlsym(RTLD_DEFAULT, "offchip_coverage_register");
    if (announce_dump != NULL)
        announce_dump(__gcov_dump);
}

#ifdef OFFCHIP_COVERAGE_PROGRAM
/* A program that is run without the preloaded library. */
void _exit(int status)
{
    __gcov_dump();
    for (;;)
        syscall(SYS_exit_group, status);
}

/* Stands in for the sanitizer's function that fuzz targets call; there is no sanitizer here. */
void __sanitizer_set_death_callback(void (*callback)(void));
void __sanitizer_set_death_callback(void (*callback)(void))
{
    (void)callback;
}
#endif

#endif
