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
    uint32_t waiting;       /* tasks in the line */
    uint32_t running;       /* threads that run tasks, callers included */
    uint32_t limit;         /* 0: not known yet */
} pool;

static void reset(void)
{
    pool.tasks = (struct list){NULL, NULL};
    pool.threads = pool.idle = pool.waiting = pool.running = 0;
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

static void take_out(struct dpulib_task *task)
{
    list_remove(&pool.tasks, &task->node);
    pool.waiting--;
}

static void put_in(struct dpulib_task *task)
{
    list_append(&pool.tasks, &task->node);
    pool.waiting++;
}

/* Takes a task out of the line, and those that may run by the same call; returns how many.
 * TOGETHER: by run_together(), even if it is the only one. */
static uint32_t take(struct dpulib_task *task, struct dpulib_task *tasks[DPULIB_TOGETHER],
                     bool *together)
{
    const struct dpulib_task_functions *functions = task->functions;
    uint32_t share = (pool.waiting + limit() - 1) / limit(), count = 0, most = 1;
    if (functions->most_together != NULL && share > 1)
        most = functions->most_together(task, share);
    *together = most > 1;

    take_out(task);
    tasks[count++] = task;
    for (struct list_node *at = pool.tasks.first, *next; at != NULL && count < most; at = next) {
        struct dpulib_task *other = LIST_ENTRY(at, struct dpulib_task, node);
        next = at->next;
        if (other->operation != task->operation || !functions->goes_with(task, other))
            continue;
        take_out(other);
        tasks[count++] = other;
    }

    return count;
}

static void run_task(struct dpulib_task *task)
{
    struct dpulib_task *tasks[DPULIB_TOGETHER];
    enum dpulib_progress progress[DPULIB_TOGETHER];
    bool together;
    uint32_t count = take(task, tasks, &together), left;

    pool.running++;
    do {
        dpulib_unlock_and_release();
        if (together)
            task->functions->run_together(tasks, count, progress);
        else
            progress[0] = task->functions->run(task);
        dpulib_lock();

        left = 0;
        for (uint32_t i = 0; i < count; i++)
            if (progress[i] == DPULIB_UNFINISHED)
                tasks[left++] = tasks[i];
            else
                tasks[i]->functions->done(tasks[i]);
        /* A long launch keeps the core if nobody else needs it. */
    } while (!together && left == 1 && list_is_empty(&pool.tasks));
    pool.running--;

    for (uint32_t i = 0; i < left; i++)
        put_in(tasks[i]);
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
    put_in(task);

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
