/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/calls.h"

#include "common/clock.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/operation.h"
#include "dpu/lib/schedule/thread.h"

#include <errno.h>

#define IDLE_NS (5 * CLOCK_SECOND)

static struct {
    struct list tasks;
    pthread_cond_t has_task;
    uint32_t waiting; /* tasks in the list */
    uint32_t threads, idle;
} calls;

static void reset(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&calls.has_task, &attributes);
    pthread_condattr_destroy(&attributes);

    calls.tasks = (struct list){NULL, NULL};
    calls.waiting = calls.idle = calls.threads = 0;
}

__attribute__((constructor)) static void set_up(void)
{
    reset();
    dpulib_on_fork(reset);
}

/* NULL if there is none for some seconds, or there are no ranks. */
static struct dpulib_task *take_task(void)
{
    const int64_t until = clock_now() + IDLE_NS;
    const struct timespec time = {until / CLOCK_SECOND, until % CLOCK_SECOND};
    int error = 0;
    while (list_is_empty(&calls.tasks) && error != ETIMEDOUT && !list_is_empty(&dpulib_ranks)) {
        calls.idle++;
        error = dpulib_wait_on(&calls.has_task, &time);
        calls.idle--;
    }

    struct list_node *node = list_pop(&calls.tasks);
    if (node == NULL)
        return NULL;

    calls.waiting--;
    return LIST_ENTRY(node, struct dpulib_task, node);
}

static void *run_tasks(void *unused)
{
    (void)unused;
    struct dpulib_task *task;
    dpulib_lock();
    while ((task = take_task()) != NULL) {
        dpulib_unlock();
        while (task->functions->run(task) == DPULIB_UNFINISHED)
            continue;

        dpulib_lock();
        task->functions->done(task);
        dpulib_unlock_and_release();
        dpulib_lock();
    }

    calls.threads--;
    dpulib_unlock();
    return NULL;
}

void dpulib_calls_wake(void)
{
    pthread_cond_broadcast(&calls.has_task);
}

bool dpulib_calls_push(struct dpulib_task *task)
{
    if (calls.waiting >= calls.idle) {
        if (dpulib_make_thread(run_tasks))
            calls.threads++;
        else if (calls.threads == 0)
            return false;
    }

    list_append(&calls.tasks, &task->node);
    calls.waiting++;
    pthread_cond_signal(&calls.has_task);
    return true;
}
