/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    _Atomic unsigned count;
    void (*_Atomic child)(void);
} forks = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

unsigned acclib_fork_count(void)
{
    return atomic_load_explicit(&forks.count, memory_order_relaxed);
}

void acclib_fork_lock(void)
{
    pthread_mutex_lock(&forks.lock);
}

void acclib_fork_unlock(void)
{
    pthread_mutex_unlock(&forks.lock);
}

static void forked_child(void)
{
    atomic_fetch_add(&forks.count, 1);
    void (*child)(void) = atomic_load(&forks.child);
    if (child != NULL)
        child();
    acclib_fork_unlock();
}

static void watch(void)
{
    pthread_atfork(acclib_fork_lock, acclib_fork_unlock, forked_child);
}

void acclib_fork_watch(void (*child)(void))
{
    atomic_store(&forks.child, child);
    pthread_once(&forks.once, watch);
}
