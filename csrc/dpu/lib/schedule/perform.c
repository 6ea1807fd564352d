/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/perform.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/remote.h"

#include <pthread.h>

/* Ranks that a callback of this thread holds: on the stack of the thread that calls the user's
 * function. Callbacks nest. */
struct holding {
    const struct dpulib_rank_job *jobs;
    uint32_t count;
    bool blocking;
    struct holding *outer;
};

static _Thread_local struct holding *innermost;

static void reset(void)
{
    innermost = NULL;
}

__attribute__((constructor)) static void set_up(void)
{
    dpulib_on_fork(reset);
}

bool dpulib_is_held(const struct dpu_rank_t *rank)
{
    for (const struct holding *at = innermost; at != NULL; at = at->outer)
        for (uint32_t i = 0; at->blocking && i < at->count; i++)
            if (at->jobs[i].rank == rank)
                return true;
    return false;
}

bool dpulib_is_in_callback(void)
{
    return innermost != NULL;
}

/* Beside a launch: the machine stands still for as long as it takes. */
static dpu_error_t run_beside(struct dpu_t *dpu, const struct dpulib_spec *spec)
{
    atomic_fetch_add_explicit(&dpu->waiting, 1, memory_order_acq_rel);
    if (pthread_mutex_trylock(&dpu->turn) != 0) {
        dpu_machine_interrupt(dpu->machine);
        pthread_mutex_lock(&dpu->turn);
    }

    /* One that was disturbed will be again. */
    if (dpulib_remote_is_away(dpu)) {
        (void)dpulib_remote_recall(dpu);
        dpu->recalled = true;
    }

    dpu_error_t error = spec->run(dpu, spec->argument);

    pthread_mutex_unlock(&dpu->turn);
    atomic_fetch_sub_explicit(&dpu->waiting, 1, memory_order_acq_rel);
    return error;
}

static void run_on(struct dpulib_rank_job *job, struct dpu_t *dpu, uint32_t index)
{
    const struct dpulib_spec *spec = &job->operation->spec;
    dpu_error_t error = spec->parallel ? run_beside(dpu, spec) : spec->run(dpu, spec->argument);
    if (!spec->parallel)
        dpulib_remote_flush(dpu);
    dpu_error_t lost = dpulib_remote_check(dpu);
    if (error != DPU_OK || lost != DPU_OK)
        dpulib_note_error(job, index, lost != DPU_OK ? lost : error);
}

static void run_on_some(struct dpulib_rank_job *job, struct dpu_t *dpus, uint32_t count)
{
    /* Beside a launch the others run. */
    if (!job->operation->spec.parallel)
        dpulib_remote_together(dpus, count);
    for (uint32_t i = 0; i < count; i++)
        if (dpus[i].enabled)
            run_on(job, &dpus[i], dpulib_dpu_index(&dpus[i]));
    dpulib_remote_together(NULL, 0);
}

static void run_on_all(struct dpulib_rank_job *job)
{
    if (job->dpu != NULL) {
        run_on(job, job->dpu, 0);
        return;
    }

    run_on_some(job, job->rank->dpus, dpulib_rank_size(job->rank));
}

static void call_back(struct dpulib_rank_job *job)
{
    const struct dpulib_operation *operation = job->operation;
    const struct dpulib_callback *callback = &operation->spec.callback;
    struct dpu_set_t set = operation->set;
    uint32_t index = UINT32_MAX;
    if (!callback->single && set.kind == DPU_SET_RANKS) {
        set.list.nr_ranks = 1;
        set.list.ranks = &job->rank->self;
        index = job->index;
    }

    struct holding holding = {
        .jobs = job,
        .count = callback->single ? operation->count : 1,
        .blocking = callback->blocking,
        .outer = innermost,
    };
    innermost = &holding;
    dpulib_fail_again(DPU_OK, "the callback failed");
    dpu_error_t error = callback->function(set, index, callback->argument);
    innermost = holding.outer;

    dpulib_note_error(job, 0, error);
}

void dpulib_perform(struct dpulib_rank_job *job)
{
    if (job->operation->spec.callback.function != NULL)
        call_back(job);
    else
        run_on_all(job);
}

uint32_t dpulib_most_together(const struct dpulib_task *task, uint32_t share)
{
    const struct dpulib_together *together = task->operation->spec.together;
    return together != NULL && task->dpu != NULL ? together->most(task->dpu, share) : 1;
}

bool dpulib_goes_with(const struct dpulib_task *task, const struct dpulib_task *other)
{
    return other->dpu != NULL && task->operation->spec.together->match(task->dpu, other->dpu);
}

void dpulib_perform_together(struct dpulib_task *const *tasks, uint32_t count,
                             enum dpulib_progress *progress)
{
    const struct dpulib_spec *spec = &tasks[0]->operation->spec;
    struct dpu_t *dpus[DPULIB_TOGETHER] = {NULL};
    enum dpu_run_status statuses[DPULIB_TOGETHER];
    for (uint32_t i = 0; i < count; i++)
        dpus[i] = tasks[i]->dpu;

    spec->together->slice(dpus, count, statuses);
    for (uint32_t i = 0; i < count; i++) {
        dpu_error_t error = DPU_OK;
        progress[i] = spec->together->after(dpus[i], spec->argument, statuses[i], &error);
        if (progress[i] == DPULIB_FINISHED)
            dpulib_note_error(tasks[i]->job, dpulib_dpu_index(dpus[i]), error);
    }
}

enum dpulib_progress dpulib_perform_task(struct dpulib_task *task)
{
    struct dpulib_rank_job *job = task->job;
    const struct dpulib_spec *spec = &job->operation->spec;
    if (task->dpu == NULL) {
        dpulib_perform(job);
        return DPULIB_FINISHED;
    }

    if (spec->advance != NULL) {
        dpu_error_t error = DPU_OK;
        if (spec->advance(task->dpu, spec->argument, &error) == DPULIB_UNFINISHED)
            return DPULIB_UNFINISHED;
        dpulib_note_error(job, dpulib_dpu_index(task->dpu), error);
        return DPULIB_FINISHED;
    }

    run_on_some(job, task->dpu, task->span);
    return DPULIB_FINISHED;
}
