/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: the process in which the soft libveo runs kernels. It is started by the library,
 * with descriptors and arguments that veo/wire.h lists, and ends when it is told to, when a
 * kernel crashes, or when the host is gone.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/futex.h"
#include "veo/run/checks.h"
#include "veo/run/report.h"
#include "veo/worker/context.h"
#include "veo/worker/crash.h"
#include "veo/worker/libraries.h"
#include "veo/worker/loop.h"
#include "veo/worker/program.h"
#include "veo/worker/zones.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Of the main context; as for the threads of others. */
#define MAIN_STACK ((rlim_t)128 << 20)
#define SERVICE_STACK ((size_t)1 << 20)

/* A lifeline alone could be held open by other children of the host; a pidfd is not there on
 * older kernels. */
static void *watch_host(void *argument)
{
    pid_t host = *(pid_t *)argument;
    struct pollfd fds[2] = {{.fd = WIRE_FD_LIFELINE, .events = POLLIN},
                            {.fd = (int)syscall(SYS_pidfd_open, host, 0), .events = POLLIN}};
    if (secure_getenv("VEO_DEBUG") == NULL && getppid() != host)
        _exit(0);
    for (;;) {
        int n = poll(fds, 2, -1);
        if (n > 0 && (fds[0].revents || fds[1].revents))
            _exit(0);
    }
}

static void refuse(const char *reason)
{
    snprintf(veow_header->start_error, sizeof veow_header->start_error, "%s", reason);
    atomic_store(&veow_header->start, WIRE_REFUSED);
    futex_wake_all(&veow_header->start);
    _exit(1);
}

static void start_watching(pid_t *host)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, (size_t)256 << 10);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, &attr, watch_host, host);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (error)
        refuse("it could not start a thread");
}

static void map_memory(char *argv[])
{
    char *end_address;
    char *end_size;
    uint64_t address = strtoull(argv[2], &end_address, 16);
    size_t size = strtoull(argv[3], &end_size, 16);
    if (*end_address || *end_size || size < WIRE_HEADER_SIZE)
        _exit(2);
    void *want = (void *)(uintptr_t)address;
    void *map = mmap(want, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, WIRE_FD_MEMORY, 0);
    void *board =
        mmap(NULL, sizeof(struct spin_board), PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_FD_BOARD, 0);
    if (map != want || board == MAP_FAILED)
        _exit(WIRE_EXIT_ADDRESS_TAKEN);
    close(WIRE_FD_MEMORY);
    close(WIRE_FD_BOARD);
    veow_header = map;
    veow_side = spin_side_of(board, veow_header->spin_slot);
    /* An overrun of the wire does not get into the heap. */
    uint64_t gap = veow_header->heap - WIRE_GAP;
    mprotect((void *)(uintptr_t)gap, WIRE_GAP, PROT_NONE);
}

static int print_help(FILE *stream)
{
    fprintf(
        stream,
        "usage: veorun PROGRAM [ARGUMENT...]\n"
        "Runs a program of Vector Engine code on the host, with the host's C library. Its "
        "status is\nthe program's; 126 if it cannot be run.\n\n"
        "It is the worker of offchip's soft libveo too, which starts it: VEORUN_BIN,\n"
        "veo_proc_create_static() and veo.VeoProc() take its path.\n\n"
        "VEORUN_TRACE=FILE     writes each instruction with its result, and where it is\n"
        "VEO_SOFT_REPORT=FILE  writes how long a Vector Engine would take\n"
        "VEO_CHECK=all         looks for mistakes: what was never written, bounds, alignment\n\n"
        "Example: veorun ./program 1000\n");
    return stream == stdout ? 0 : 2;
}

int main(int argc, char *argv[])
{
    static pid_t host;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return print_help(stdout);
    if (argc > 1 && strcmp(argv[1], WIRE_ARGV_TAG) != 0)
        return veow_run_program(argv + 1);
    if (argc != WIRE_ARGC && argc != WIRE_ARGC_CODE)
        return print_help(stderr);

    map_memory(argv);
    host = (pid_t)strtol(argv[4], NULL, 10);
    if (veow_header->version != WIRE_VERSION)
        refuse("it was built with another version of offchip; build it anew");
    /* Ctrl-C is for the host, which decides what it means. */
    signal(SIGINT, SIG_IGN);
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < MAIN_STACK) {
        stack.rlim_cur = stack.rlim_max < MAIN_STACK ? stack.rlim_max : MAIN_STACK;
        setrlimit(RLIMIT_STACK, &stack);
    }

    veow_crash_setup();
    veow_zones_setup();
    start_watching(&host);
    char error[WIRE_ERROR_SIZE];
    if (argc == WIRE_ARGC_CODE && !veow_load_code(argv[5], error))
        refuse(error);
    if (veow_start_context(veow_header->service, SERVICE_STACK) != 0)
        refuse("it could not start a thread");
    veow_header->worker_pid = (int32_t)getpid();
    atomic_store(&veow_header->start, WIRE_RUNNING);
    futex_wake_all(&veow_header->start);
    veow_run_context(veow_header->main);
    verun_report_finish();
    verun_checks_finish();
    /* As at the end of a program: exit handlers run, output is flushed. */
    exit(0);
}
