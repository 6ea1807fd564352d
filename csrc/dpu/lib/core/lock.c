/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: the lock and what a fork does to it. */
#include "dpu/lib/core/lock.h"

#include "common/clock.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static uint32_t waiters;
static uint64_t generation;

/* Functions of modules that run in a forked child. */
#define FORK_HOOKS_MAX 8
static void (*fork_hooks[FORK_HOOKS_MAX])(void);
static size_t fork_hooks_count;

void dpulib_lock(void)
{
    pthread_mutex_lock(&lock);
}

bool dpulib_lock_soon(int64_t limit)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);

    limit += until.tv_nsec;
    until.tv_sec += limit / CLOCK_SECOND;
    until.tv_nsec = limit % CLOCK_SECOND;

    return pthread_mutex_timedlock(&lock, &until) == 0;
}

void dpulib_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool dpulib_wait(int64_t deadline)
{
    int error = 0;
    waiters++;
    if (deadline == CLOCK_NEVER) {
        pthread_cond_wait(&changed, &lock);
    } else {
        struct timespec until = {deadline / CLOCK_SECOND, deadline % CLOCK_SECOND};
        error = pthread_cond_timedwait(&changed, &lock, &until);
    }

    waiters--;
    return error != ETIMEDOUT;
}

int dpulib_wait_on(pthread_cond_t *condition, const struct timespec *until)
{
    if (until == NULL)
        return pthread_cond_wait(condition, &lock);
    return pthread_cond_timedwait(condition, &lock, until);
}

void dpulib_changed(void)
{
    if (waiters != 0)
        pthread_cond_broadcast(&changed);
}

uint64_t dpulib_generation(void)
{
    return generation;
}

static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void dpulib_on_fork(void (*in_child)(void))
{
    if (fork_hooks_count == FORK_HOOKS_MAX)
        abort();
    fork_hooks[fork_hooks_count++] = in_child;
}

/* The child has one thread, so nothing works on its copies of ranks: they are given up, and it may
 * allocate its own. */
static void start_anew(void)
{
    pthread_mutex_init(&lock, NULL);
    make_condition();
    waiters = 0;
    generation++;

    for (size_t i = 0; i < fork_hooks_count; i++)
        fork_hooks[i]();
}

__attribute__((constructor)) static void set_up(void)
{
    make_condition();
    pthread_atfork(dpulib_lock, dpulib_unlock, start_anew);
}
