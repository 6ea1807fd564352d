/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/queue.h"

#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/calls.h"
#include "dpu/lib/schedule/modelled_time.h"
#include "dpu/lib/schedule/perform.h"
#include "dpu/lib/schedule/pool.h"

#include <stdlib.h>
#include <string.h>

static struct dpulib_rank_job *job_at(struct list_node *node)
{
    return node != NULL ? LIST_ENTRY(node, struct dpulib_rank_job, node) : NULL;
}

static bool is_about(const struct dpulib_rank_job *job, const struct dpu_t *dpu)
{
    return dpu->enabled && (job->dpu == NULL || job->dpu == dpu);
}

static void take_out(struct dpulib_rank_job *job)
{
    if (!job->queued)
        return;
    list_remove(&job->rank->queue, &job->node);
    job->rank->jobs--;
    job->queued = false;
    dpulib_changed();
}

/* --- tasks --- */

/* Sets what dpu_status() returns for a DPU whose launch is over. */
static void end_launch(struct dpu_t *dpu)
{
    dpu->in_fault = dpu->status == DPUSOFT_FAULT;
    if (--dpu->launches == 0)
        dpu->interrupted = false;
}

static void task_done(struct dpulib_task *task)
{
    struct dpulib_rank_job *job = task->job;
    if (task->dpu != NULL && dpulib_is_launch(job->operation))
        end_launch(task->dpu);
    if (--job->tasks == 0)
        dpulib_job_done(job);
}

static const struct dpulib_task_functions task_functions = {
    .run = dpulib_perform_task,
    .done = task_done,
    .most_together = dpulib_most_together,
    .goes_with = dpulib_goes_with,
    .run_together = dpulib_perform_together,
};

static struct dpulib_task make_task(struct dpulib_rank_job *job, struct dpu_t *dpu, uint32_t span)
{
    return (struct dpulib_task){
        .functions = &task_functions,
        .operation = job->operation,
        .job = job,
        .dpu = dpu,
        .span = span,
    };
}

/* A task for each span of DPUs that begins with one that the rank job is about. */
static void start_tasks(struct dpulib_rank_job *job)
{
    struct dpu_rank_t *rank = job->rank;
    const uint32_t size = dpulib_rank_size(rank), span = job->operation->span;
    struct dpulib_task *tasks[DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI];
    for (uint32_t i = 0; i < size; i += is_about(job, &rank->dpus[i]) ? span : 1) {
        struct dpu_t *dpu = &rank->dpus[i];
        if (!is_about(job, dpu))
            continue;
        dpu->task = make_task(job, dpu, size - i < span ? size - i : span);
        tasks[job->tasks++] = &dpu->task;
    }

    /* All are counted before the first one can be done. */
    for (uint32_t i = 0, count = job->tasks; i < count; i++)
        dpulib_pool_push(tasks[i]);
}

/* --- starting --- */

static bool is_passed_by_others(const struct dpulib_rank_job *job)
{
    const struct dpulib_callback *callback = &job->operation->spec.callback;
    return callback->function != NULL && !callback->blocking;
}

static void let_others_pass(struct dpulib_rank_job *job)
{
    if (is_passed_by_others(job)) {
        job->rank->detached++;
        take_out(job);
    }
}

static void start_on_call_thread(struct dpulib_rank_job *job)
{
    job->tasks = 1;
    job->task = make_task(job, NULL, 0);
    if (dpulib_calls_push(&job->task))
        return;

    job->error = DPU_ERR_SYSTEM;
    job->detail = strdup("out of memory (no thread could be started for the callback)");
    dpulib_job_done(job);
}

static void start_in_pool(struct dpulib_rank_job *job)
{
    if (job->operation->spread) {
        start_tasks(job);
        return;
    }
    job->tasks = 1;
    job->task = make_task(job, NULL, 0);
    dpulib_pool_push(&job->task);
}

/* Notes that one more rank job of an operation is ready; the last one starts it. */
static void collect(struct dpulib_rank_job *job)
{
    struct dpulib_operation *operation = job->operation;
    let_others_pass(job);
    if (++operation->collected < operation->count)
        return;
    if (operation->async)
        start_on_call_thread(&operation->jobs[0]);
    else
        dpulib_changed();
}

static void start(struct dpulib_rank_job *job)
{
    switch (job->operation->executor) {
    case DPULIB_BY_CALLER:
        job->state = DPULIB_READY;
        dpulib_changed();
        return;
    case DPULIB_BY_POOL:
        job->state = DPULIB_RUNNING;
        start_in_pool(job);
        return;
    case DPULIB_BY_CALL_THREAD:
        job->state = DPULIB_RUNNING;
        let_others_pass(job);
        start_on_call_thread(job);
        return;
    case DPULIB_ONCE:
        job->state = DPULIB_READY;
        collect(job);
        return;
    }
}

/* Starts the first rank job, and while that is a launch, those that may run beside it. */
static void advance(struct dpu_rank_t *rank)
{
    struct list_node *at = rank->queue.first;
    while (at != NULL) {
        struct dpulib_rank_job *job = job_at(at);
        if (job->state == DPULIB_QUEUED) {
            if (at != rank->queue.first && !job->operation->spec.parallel)
                return;
            start(job);
            at = rank->queue.first; /* the rank job may be gone */
            continue;
        }
        if (!dpulib_is_launch(job->operation))
            return;
        at = at->next;
    }
}

static void count_launch(const struct dpulib_rank_job *job)
{
    if (!dpulib_is_launch(job->operation))
        return;
    for (uint32_t i = 0; i < dpulib_rank_size(job->rank); i++)
        job->rank->dpus[i].launches += is_about(job, &job->rank->dpus[i]);
}

void dpulib_enqueue(struct dpulib_rank_job *job)
{
    struct dpu_rank_t *rank = job->rank;
    job->number = ++rank->queued;
    job->state = DPULIB_QUEUED;
    job->queued = true;
    list_append(&rank->queue, &job->node);
    rank->jobs++;

    count_launch(job);
    advance(rank);
}

void dpulib_start_held(struct dpulib_rank_job *job)
{
    job->queued = false;
    count_launch(job);
    start(job);
}

/* --- ending --- */

/* Keeps the first error of asynchronous operations for dpu_sync(). */
static void keep_error(struct dpulib_rank_job *job)
{
    const struct dpulib_operation *operation = job->operation;
    struct dpu_rank_t *rank = job->rank;
    rank->failures += job->failures;
    if (job->error == DPU_OK || rank->error != DPU_OK)
        return;

    uint32_t code = (uint32_t)job->error;
    if (!dpulib_is_launch(operation))
        code |= (uint32_t)DPU_ERR_ASYNC_JOBS | (uint32_t)operation->spec.kind
                                                   << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT;
    rank->error = (dpu_error_t)code;
    free(rank->detail);
    /* The recorder reads the job's. */
    rank->detail = job->detail != NULL ? strdup(job->detail) : NULL;
}

static void finish(struct dpulib_rank_job *job)
{
    struct dpulib_operation *operation = job->operation;
    if (operation->async)
        keep_error(job);
    if (--operation->left != 0)
        return;

    dpulib_time_note(operation);
    if (operation->async)
        dpulib_operation_over(operation);
    dpulib_changed();
}

static void leave(struct dpulib_rank_job *job)
{
    struct dpu_rank_t *rank = job->rank;
    job->state = DPULIB_DONE;
    if (is_passed_by_others(job)) {
        rank->detached--;
        dpulib_changed();
    }

    take_out(job);

    advance(rank);
    finish(job);
}

void dpulib_job_done(struct dpulib_rank_job *job)
{
    struct dpulib_operation *operation = job->operation;
    if (operation->executor != DPULIB_ONCE) {
        leave(job);
        return;
    }
    for (uint32_t i = 0, count = operation->count; i < count; i++)
        leave(&operation->jobs[i]);
}

bool dpulib_is_past(const struct dpu_rank_t *rank, uint64_t number)
{
    const struct dpulib_rank_job *first = job_at(rank->queue.first);
    return first == NULL || first->number > number;
}
