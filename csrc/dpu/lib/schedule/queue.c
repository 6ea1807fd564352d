/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: the jobs of a rank, one after the other. All functions need the lock. */
#include "dpu/lib/core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations that have ended and that nobody waits for. */
static struct dpulib_operation *ended;

static bool is_about(const struct dpulib_job *job, const struct dpu_t *dpu)
{
    return dpu->enabled && (job->dpu == NULL || job->dpu == dpu);
}

static void take_out(struct dpulib_job *job)
{
    struct dpu_rank_t *rank = job->rank;
    if (!job->queued)
        return;
    struct dpulib_job *before = NULL, *at = rank->first;
    while (at != job) {
        before = at;
        at = at->next;
    }
    if (before == NULL)
        rank->first = job->next;
    else
        before->next = job->next;
    if (rank->last == job)
        rank->last = before;
    rank->jobs--;
    job->queued = false;
    job->next = NULL;
    dpulib_changed();
}

static void finish(struct dpulib_job *job)
{
    struct dpulib_operation *operation = job->operation;
    struct dpu_rank_t *rank = job->rank;
    if (operation->async)
        rank->failures += job->failures;
    if (operation->async && job->error != DPU_OK && rank->error == DPU_OK) {
        uint32_t code = (uint32_t)job->error;
        if (!operation->launch)
            code |= (uint32_t)DPU_ERR_ASYNC_JOBS | (uint32_t)operation->work.kind
                                                       << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT;
        rank->error = (dpu_error_t)code;
        free(rank->detail);
        rank->detail = job->detail;
        job->detail = NULL;
    }
    if (--operation->left != 0)
        return;
    dpulib_time_note(operation);
    if (operation->async) {
        operation->next = ended;
        ended = operation;
    }
    dpulib_changed();
}

static bool passes(const struct dpulib_job *job)
{
    const struct dpulib_callback *callback = &job->operation->callback;
    return callback->function != NULL && !callback->blocking;
}

/* A callback that later jobs do not wait for leaves the queue when it starts. */
static void let_pass(struct dpulib_job *job)
{
    if (passes(job)) {
        job->rank->detached++;
        take_out(job);
    }
}

static void start_items(struct dpulib_job *job)
{
    if (!job->operation->spread) {
        job->items_left = 1;
        job->item = (struct dpulib_item){NULL, job, NULL, 0};
        dpulib_pool_push(&job->item);
        return;
    }
    struct dpu_rank_t *rank = job->rank;
    const uint32_t size = dpulib_rank_size(rank), span = job->operation->span;
    struct dpulib_item *items[DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI];
    for (uint32_t i = 0; i < size; i += is_about(job, &rank->dpus[i]) ? span : 1) {
        struct dpu_t *dpu = &rank->dpus[i];
        if (!is_about(job, dpu))
            continue;
        dpu->item = (struct dpulib_item){NULL, job, dpu, size - i < span ? size - i : span};
        items[job->items_left++] = &dpu->item;
    }
    for (uint32_t i = 0, count = job->items_left; i < count; i++)
        dpulib_pool_push(items[i]);
}

static void start(struct dpulib_job *job)
{
    struct dpulib_operation *operation = job->operation;
    job->state = operation->style == DPULIB_CALLER || operation->style == DPULIB_GATHER
                     ? DPULIB_READY
                     : DPULIB_RUNNING;
    switch (operation->style) {
    case DPULIB_CALLER: dpulib_changed(); return;
    case DPULIB_POOL: start_items(job); return;
    case DPULIB_GATHER:
        let_pass(job);
        if (++operation->arrived < operation->count)
            return;
        if (!operation->async) {
            dpulib_changed();
            return;
        }
        job = &operation->jobs[0];
        break;
    case DPULIB_CALL: let_pass(job); break;
    }
    if (!dpulib_calls_push(job)) {
        job->error = DPU_ERR_SYSTEM;
        job->detail = strdup("out of memory (no thread for the callback could be made)");
        dpulib_job_done(job);
    }
}

/* Starts the first job, and while it is a launch what may run beside it. */
static void advance(struct dpu_rank_t *rank)
{
    struct dpulib_job *job = rank->first;
    while (job != NULL) {
        if (job->state == DPULIB_QUEUED) {
            if (job != rank->first && !job->operation->work.parallel)
                return;
            start(job);
            job = rank->first; /* it may be gone */
            continue;
        }
        if (!job->operation->launch)
            return;
        job = job->next;
    }
}

static void count_launch(struct dpulib_job *job)
{
    if (!job->operation->launch)
        return;
    for (uint32_t i = 0; i < dpulib_rank_size(job->rank); i++)
        job->rank->dpus[i].launches += is_about(job, &job->rank->dpus[i]);
}

void dpulib_enqueue(struct dpulib_job *job)
{
    struct dpu_rank_t *rank = job->rank;
    job->number = ++rank->queued;
    job->state = DPULIB_QUEUED;
    job->queued = true;
    job->next = NULL;
    if (rank->last == NULL)
        rank->first = job;
    else
        rank->last->next = job;
    rank->last = job;
    rank->jobs++;
    count_launch(job);
    advance(rank);
}

void dpulib_start_held(struct dpulib_job *job)
{
    job->queued = false;
    count_launch(job);
    start(job);
}

static void leave(struct dpulib_job *job)
{
    job->state = DPULIB_DONE;
    struct dpu_rank_t *rank = job->rank;
    if (passes(job)) {
        rank->detached--;
        dpulib_changed();
    }
    take_out(job);
    advance(rank);
    finish(job);
}

void dpulib_job_done(struct dpulib_job *job)
{
    struct dpulib_operation *operation = job->operation;
    if (operation->style != DPULIB_GATHER) {
        leave(job);
        return;
    }
    /* The last one ends the operation. */
    for (uint32_t i = 0, count = operation->count; i < count; i++)
        leave(&operation->jobs[i]);
}

void dpulib_note_error(struct dpulib_job *job, uint32_t index, dpu_error_t error)
{
    if (error == DPU_OK)
        return;
    job->failures++;
    if (job->error != DPU_OK && job->failed <= index)
        return;
    job->error = error;
    job->failed = index;
    free(job->detail);
    job->detail = strdup(dpulib_detail());
}

bool dpulib_is_past(const struct dpu_rank_t *rank, uint64_t number)
{
    return rank->first == NULL || rank->first->number > number;
}

void dpulib_unlock_and_release(void)
{
    struct dpulib_operation *list = ended;
    ended = NULL;
    dpulib_unlock();
    while (list != NULL) {
        struct dpulib_operation *operation = list;
        list = list->next;
        if (operation->work.release != NULL)
            operation->work.release(operation->work.argument);
        for (uint32_t i = 0; i < operation->count; i++)
            free(operation->jobs[i].detail);
        free(operation);
    }
}
