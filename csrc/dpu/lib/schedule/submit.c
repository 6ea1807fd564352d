/* SPDX-License-Identifier: BSD-3-Clause */
/* submit.c: from a call about a set to jobs of its ranks, and waiting for them. */
#include "dpu/lib/core/core.h"
#include "common/clock.h"

#include <stdlib.h>

/* From so many bytes on, other cores are asked for help; below, waking them takes longer. */
#define SPREAD_BYTES ((size_t)2048 * 1024)
/* What one thread copies before it looks for more. */
#define ITEM_BYTES ((size_t)256 * 1024)

struct dpulib_operation *dpulib_operation_new(struct dpu_set_t set, const struct dpulib_work *work)
{
    uint32_t count = dpulib_set_ranks(&set);
    struct dpulib_operation *operation =
        calloc(1, sizeof(*operation) + count * sizeof(operation->jobs[0]));
    if (operation == NULL)
        return NULL;
    operation->work = *work;
    operation->count = operation->left = count;
    operation->span = 1;
    dpulib_lock();
    for (uint32_t i = 0; i < count; i++) {
        struct dpulib_job *job = &operation->jobs[i];
        job->operation = operation;
        job->rank = dpulib_set_rank(&set, i);
        job->dpu = set.kind == DPU_SET_DPU ? set.dpu : NULL;
        job->index = i;
        if (job->rank != NULL)
            operation->dpus += job->dpu != NULL ? 1 : job->rank->count;
    }
    dpulib_unlock();
    return operation;
}

static void operation_free(struct dpulib_operation *operation)
{
    if (operation->work.release != NULL)
        operation->work.release(operation->work.argument);
    for (uint32_t i = 0; i < operation->count; i++)
        free(operation->jobs[i].detail);
    free(operation);
}

static dpu_error_t check_ranks(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpulib_job *job = &operation->jobs[i];
        struct dpu_rank_t *rank = job->rank;
        struct dpu_set_t one = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
        if (job->dpu != NULL)
            one = (struct dpu_set_t){.kind = DPU_SET_DPU, .dpu = job->dpu};
        dpu_error_t status = dpulib_check_set_locked(one);
        if (status != DPU_OK)
            return status;
    }
    return DPU_OK;
}

static bool has_room(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpu_rank_t *rank = operation->jobs[i].rank;
        if (rank->jobs >= rank->profile.jobs_per_rank && !dpulib_is_held(rank))
            return false;
    }
    return true;
}

/* What an asynchronous call needs before it can be queued. */
static dpu_error_t prepare_async(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++)
        if (operation->jobs[i].rank->profile.threads_per_rank == 0)
            return dpulib_fail(DPU_ERR_NO_THREAD_PER_RANK,
                               "the profile says nrThreadsPerRank=0, so nothing is asynchronous");
    if (!dpulib_pool_is_ready())
        return dpulib_fail(DPU_ERR_SYSTEM, "no thread could be started");
    while (!has_room(operation)) {
        dpulib_wait(CLOCK_NEVER);
        dpu_error_t status = check_ranks(operation);
        if (status != DPU_OK)
            return status;
    }
    return DPU_OK;
}

static struct dpulib_job *find_ready(struct dpulib_operation *operation)
{
    if (operation->style == DPULIB_GATHER)
        return operation->arrived == operation->count ? &operation->jobs[0] : NULL;
    for (uint32_t i = 0; i < operation->count; i++)
        if (operation->jobs[i].state == DPULIB_READY)
            return &operation->jobs[i];
    return NULL;
}

/* With the lock, as it leaves it. */
static void take_part(struct dpulib_operation *operation)
{
    while (operation->left != 0) {
        struct dpulib_job *job = find_ready(operation);
        if (job != NULL) {
            dpulib_unlock_and_release();
            dpulib_call(job);
            dpulib_lock();
            dpulib_job_done(job);
        } else if (operation->style != DPULIB_POOL || !dpulib_pool_help(operation)) {
            dpulib_wait(CLOCK_NEVER);
        }
    }
}

dpu_error_t dpulib_operation_run(struct dpulib_operation *operation)
{
    bool async = operation->async;
    dpulib_lock();
    dpu_error_t status = check_ranks(operation);
    if (status == DPU_OK && async)
        status = prepare_async(operation);
    if (status != DPU_OK) {
        dpulib_unlock_and_release();
        operation_free(operation);
        return status;
    }
    /* All at once, so that two operations are in the same order in all queues. */
    for (uint32_t i = 0, count = operation->count; i < count; i++) {
        struct dpulib_job *job = &operation->jobs[i];
        if (!async && dpulib_is_held(job->rank))
            dpulib_start_held(job);
        else
            dpulib_enqueue(job);
    }
    if (async) {
        dpulib_unlock_and_release();
        return DPU_OK;
    }
    take_part(operation);
    dpulib_unlock_and_release();
    uint32_t failures = 0;
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpulib_job *job = &operation->jobs[i];
        failures += job->failures;
        if (status == DPU_OK && job->error != DPU_OK)
            status =
                dpulib_fail(job->error, "%s", job->detail != NULL ? job->detail : DPULIB_NO_DETAIL);
    }
    operation_free(operation);
    return dpulib_count_failures(status, failures);
}

static enum dpulib_style choose_style(const struct dpulib_operation *operation)
{
    if (operation->spread)
        return DPULIB_POOL;
    if (!operation->async)
        return DPULIB_CALLER;
    return operation->work.parallel ? DPULIB_CALL : DPULIB_POOL;
}

dpu_error_t dpulib_submit(struct dpu_set_t set, const struct dpulib_work *work, bool async)
{
    dpu_error_t status = dpulib_check_set(set);
    struct dpulib_operation *operation = NULL;
    if (status == DPU_OK) {
        operation = dpulib_operation_new(set, work);
        if (operation == NULL)
            status = dpulib_fail(DPU_ERR_SYSTEM, "there is no memory for a job");
    }
    if (status != DPU_OK) {
        if (work->release != NULL)
            work->release(work->argument);
        return status;
    }
    operation->async = async;
    operation->spread =
        !work->parallel && operation->dpus > 1 && work->bytes >= SPREAD_BYTES / operation->dpus;
    if (operation->spread && work->bytes < ITEM_BYTES)
        operation->span = (uint32_t)(ITEM_BYTES / work->bytes);
    operation->style = choose_style(operation);
    return dpulib_operation_run(operation);
}

dpu_error_t dpulib_work_on_rank(struct dpu_rank_t *rank, const struct dpulib_work *work)
{
    struct dpu_set_t set = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
    return dpulib_submit(set, work, false);
}

dpu_error_t dpulib_work_on_dpu(struct dpu_t *dpu, const struct dpulib_work *work)
{
    struct dpu_set_t set = {.kind = DPU_SET_DPU, .dpu = dpu};
    return dpulib_submit(set, work, false);
}

bool dpulib_drain(struct dpu_set_t set, int64_t deadline)
{
    bool over = true;
    dpulib_lock();
    for (uint32_t i = 0; over && i < dpulib_set_ranks(&set); i++) {
        const struct dpu_rank_t *rank = dpulib_set_rank(&set, i);
        if (rank == NULL || dpulib_is_held(rank))
            continue;
        uint64_t number = rank->queued;
        /* A callback would wait for itself. */
        while (over &&
               (!dpulib_is_past(rank, number) || (rank->detached != 0 && !dpulib_is_in_callback())))
            over = dpulib_wait(deadline);
    }
    dpulib_unlock_and_release();
    return over;
}
