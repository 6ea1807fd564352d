/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/pool.h"

#include "common/cores.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/operation.h"
#include "dpu/lib/schedule/thread.h"

static struct {
    struct list tasks;
    pthread_cond_t has_task;
    uint32_t threads, idle; /* that exist, that wait for a task */
    uint32_t running;       /* tasks, those of callers included */
    uint32_t limit;         /* 0: not known yet */
} pool;

static void reset(void)
{
    pool.tasks = (struct list){NULL, NULL};
    pool.threads = pool.idle = pool.running = 0;
    pthread_cond_init(&pool.has_task, NULL);
}

__attribute__((constructor)) static void set_up(void)
{
    reset();
    dpulib_on_fork(reset);
}

void dpulib_pool_set_limit(uint32_t threads)
{
    pool.limit = threads;
}

static uint32_t limit(void)
{
    if (pool.limit == 0)
        pool.limit = usable_cores();
    return pool.limit;
}

static void run_task(struct dpulib_task *task)
{
    enum dpulib_progress progress;
    list_remove(&pool.tasks, &task->node);

    pool.running++;
    do {
        dpulib_unlock_and_release();
        progress = task->functions->run(task);
        dpulib_lock();
        /* A long launch keeps the core if nobody else needs it. */
    } while (progress == DPULIB_UNFINISHED && list_is_empty(&pool.tasks));
    pool.running--;

    if (progress == DPULIB_UNFINISHED)
        list_append(&pool.tasks, &task->node);
    else
        task->functions->done(task);

    if (!list_is_empty(&pool.tasks) && pool.idle != 0)
        pthread_cond_signal(&pool.has_task);
    dpulib_changed();
}

static void *run_tasks(void *unused)
{
    (void)unused;
    dpulib_lock();
    for (;;) {
        if (!list_is_empty(&pool.tasks) && pool.running < limit()) {
            run_task(LIST_ENTRY(pool.tasks.first, struct dpulib_task, node));
            dpulib_unlock_and_release();
            dpulib_lock();
            continue;
        }

        if (list_is_empty(&dpulib_ranks) && list_is_empty(&pool.tasks))
            break;
        pool.idle++;
        dpulib_wait_on(&pool.has_task, NULL);
        pool.idle--;
    }

    pool.threads--;
    dpulib_unlock();
    return NULL;
}

static bool add_thread(void)
{
    if (pool.threads >= limit() || !dpulib_make_thread(run_tasks))
        return false;
    pool.threads++;
    return true;
}

bool dpulib_pool_is_ready(void)
{
    return pool.threads != 0 || add_thread();
}

void dpulib_pool_wake(void)
{
    pthread_cond_broadcast(&pool.has_task);
}

void dpulib_pool_push(struct dpulib_task *task)
{
    list_append(&pool.tasks, &task->node);

    if (pool.idle != 0)
        pthread_cond_signal(&pool.has_task);
    else
        add_thread();
    dpulib_changed();
}

bool dpulib_pool_help(const struct dpulib_operation *operation)
{
    if (pool.running >= limit())
        return false;

    for (struct list_node *at = pool.tasks.first; at != NULL; at = at->next) {
        struct dpulib_task *task = LIST_ENTRY(at, struct dpulib_task, node);
        if (task->operation == operation) {
            run_task(task);
            return true;
        }
    }

    return false;
}
