/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_loops.c: what copies cost in plain C: memcpy(), and process_vm_readv() and writev() with
 * a child process. Each loop returns nanoseconds a copy; failures are negative.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double loop_memcpy(void *dst, const void *src, size_t size, long count);
double loop_read(int pid, void *local, void *remote, size_t size, long count);
double loop_write(int pid, void *local, void *remote, size_t size, long count);
int start_child(size_t size, void **memory);
void stop_child(int pid, void *memory, size_t size);

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double loop_memcpy(void *dst, const void *src, size_t size, long count)
{
    double start = now_ns();
    for (long i = 0; i < count; i++) {
        memcpy(dst, src, size);
        /* Keeps the compiler from taking the loop away. */
        __asm__ volatile("" : : "r"(dst) : "memory");
    }
    return (now_ns() - start) / (double)count;
}

static double loop_vm(int pid, void *local, void *remote, size_t size, long count,
                      ssize_t (*copy)(pid_t, const struct iovec *, unsigned long,
                                      const struct iovec *, unsigned long, unsigned long))
{
    double start = now_ns();
    for (long i = 0; i < count; i++) {
        struct iovec here = {local, size}, there = {remote, size};
        if (copy(pid, &here, 1, &there, 1, 0) != (ssize_t)size)
            return -1.0;
    }
    return (now_ns() - start) / (double)count;
}

double loop_read(int pid, void *local, void *remote, size_t size, long count)
{
    return loop_vm(pid, local, remote, size, count, process_vm_readv);
}

double loop_write(int pid, void *local, void *remote, size_t size, long count)
{
    return loop_vm(pid, local, remote, size, count, process_vm_writev);
}

/* A child that has SIZE bytes of its own, touched, at MEMORY. Its pid, or -1. */
int start_child(size_t size, void **memory)
{
    *memory = NULL;
    int ready[2];
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    if (pipe(ready) != 0) {
        munmap(pages, size);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(pages, 1, size);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    char byte;
    if (pid > 0 && read(ready[0], &byte, 1) != 1) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(ready[0]);
    if (pid < 0)
        munmap(pages, size);
    else
        *memory = pages;
    return pid;
}

void stop_child(int pid, void *memory, size_t size)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap(memory, size);
}
