/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c: threads for what may wait for something else: functions of the user's, and works beside
 * a launch. There are as many as are needed; one that has nothing to do for a while ends.
 */
#include "dpu/lib/core/core.h"
#include "common/clock.h"

#include <stdatomic.h>
#include <errno.h>

#define IDLE_NS (5 * CLOCK_SECOND)

static struct {
    struct dpulib_job *first, *last;
    pthread_cond_t work;
    uint32_t waiting, idle, threads;
} calls;

/* What blocking callbacks of this thread have to themselves. */
struct held {
    const struct dpulib_job *jobs;
    uint32_t count;
    bool blocking;
    struct held *outer;
};
static _Thread_local struct held *held;

void dpulib_calls_reset(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&calls.work, &attributes);
    pthread_condattr_destroy(&attributes);
    calls.first = calls.last = NULL;
    calls.waiting = calls.idle = calls.threads = 0;
    held = NULL;
}

bool dpulib_is_held(const struct dpu_rank_t *rank)
{
    for (const struct held *at = held; at != NULL; at = at->outer)
        for (uint32_t i = 0; at->blocking && i < at->count; i++)
            if (at->jobs[i].rank == rank)
                return true;
    return false;
}

bool dpulib_is_in_callback(void)
{
    return held != NULL;
}

/* A DPU that runs stands still for a parallel work. */
static dpu_error_t run_one(struct dpu_t *dpu, const struct dpulib_work *work)
{
    if (!work->parallel)
        return work->run(dpu, work->argument);
    atomic_fetch_add_explicit(&dpu->waiting, 1, memory_order_acq_rel);
    if (pthread_mutex_trylock(&dpu->turn) != 0) {
        dpu_machine_interrupt(dpu->machine);
        pthread_mutex_lock(&dpu->turn);
    }
    dpu_error_t error = work->run(dpu, work->argument);
    pthread_mutex_unlock(&dpu->turn);
    atomic_fetch_sub_explicit(&dpu->waiting, 1, memory_order_acq_rel);
    return error;
}

static void run_all(struct dpulib_job *job)
{
    const struct dpulib_work *work = &job->operation->work;
    if (job->dpu != NULL) {
        dpulib_note_error(job, 0, run_one(job->dpu, work));
        return;
    }
    for (uint32_t i = 0; i < dpulib_rank_size(job->rank); i++)
        if (job->rank->dpus[i].enabled)
            dpulib_note_error(job, i, run_one(&job->rank->dpus[i], work));
}

void dpulib_call(struct dpulib_job *job)
{
    const struct dpulib_operation *operation = job->operation;
    const struct dpulib_callback *callback = &operation->callback;
    if (callback->function == NULL) {
        run_all(job);
        return;
    }
    struct dpu_set_t set = callback->set;
    uint32_t index = UINT32_MAX;
    if (!callback->single && set.kind == DPU_SET_RANKS) {
        set.list.nr_ranks = 1;
        set.list.ranks = &job->rank->self;
        index = job->index;
    }
    struct held mine = {job, 1, callback->blocking, held};
    if (callback->single)
        mine.count = operation->count;
    held = &mine;
    dpulib_fail(DPU_OK, "the callback failed");
    dpulib_note_error(job, 0, callback->function(set, index, callback->argument));
    held = mine.outer;
}

static void *run(void *unused)
{
    (void)unused;
    dpulib_lock();
    for (;;) {
        int64_t until = clock_now() + IDLE_NS;
        int error = 0;
        while (calls.first == NULL && error != ETIMEDOUT && dpulib_ranks != NULL) {
            struct timespec time = {until / CLOCK_SECOND, until % CLOCK_SECOND};
            calls.idle++;
            error = dpulib_wait_on(&calls.work, &time);
            calls.idle--;
        }
        struct dpulib_job *job = calls.first;
        if (job == NULL)
            break;
        calls.first = job->next_call;
        if (calls.first == NULL)
            calls.last = NULL;
        calls.waiting--;
        dpulib_unlock();
        dpulib_call(job);
        dpulib_lock();
        dpulib_job_done(job);
        dpulib_unlock_and_release();
        dpulib_lock();
    }
    calls.threads--;
    dpulib_unlock();
    return NULL;
}

void dpulib_calls_wake(void)
{
    pthread_cond_broadcast(&calls.work);
}

bool dpulib_calls_push(struct dpulib_job *job)
{
    if (calls.waiting >= calls.idle) {
        if (dpulib_make_thread(run))
            calls.threads++;
        else if (calls.threads == 0)
            return false;
    }
    job->next_call = NULL;
    if (calls.last == NULL)
        calls.first = job;
    else
        calls.last->next_call = job;
    calls.last = job;
    calls.waiting++;
    pthread_cond_signal(&calls.work);
    return true;
}
