/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define MAX_THREADS 256

struct pool {
    size_t count;
    bool (*do_task)(void *context, size_t task, unsigned worker);
    void *context;
    _Atomic size_t next;
    atomic_bool failed;
};

struct worker {
    struct pool *pool;
    unsigned number;
    pthread_t thread;
};

bool fuse_is_over(const struct fuse_limits *limits)
{
    if (limits->stop != NULL && __atomic_load_n(limits->stop, __ATOMIC_RELAXED) != 0)
        return true;
    if (__builtin_isinf(limits->deadline))
        return false;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec > limits->deadline;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    while (!atomic_load(&pool->failed)) {
        size_t task = atomic_fetch_add(&pool->next, 1);
        if (task >= pool->count)
            break;
        if (!pool->do_task(pool->context, task, worker->number))
            atomic_store(&pool->failed, true);
    }
    return NULL;
}

bool fuse_do_tasks(const struct fuse_limits *limits, size_t count,
                   bool (*do_task)(void *context, size_t task, unsigned worker), void *context)
{
    struct pool pool = {.count = count, .do_task = do_task, .context = context};
    atomic_init(&pool.next, 0);
    atomic_init(&pool.failed, false);
    struct worker workers[MAX_THREADS];
    unsigned wanted = limits->threads < MAX_THREADS ? limits->threads : MAX_THREADS;
    if (wanted > count)
        wanted = (unsigned)count;

    /* Fewer threads than asked for do the same work. */
    unsigned started = 1;
    workers[0] = (struct worker){.pool = &pool, .number = 0};
    for (; started < wanted; started++) {
        workers[started] = (struct worker){.pool = &pool, .number = started};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
            break;
    }
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return !atomic_load(&pool.failed);
}
