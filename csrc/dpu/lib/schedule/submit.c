/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/submit.h"

#include "common/clock.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/observe/recorder.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/oldest.h"
#include "dpu/lib/schedule/perform.h"
#include "dpu/lib/schedule/pool.h"
#include "dpu/lib/schedule/queue.h"

/* From so many bytes on, other cores are asked for help; below, waking them takes longer. */
#define SPREAD_BYTES ((size_t)2048 * 1024)
/* Bytes that one thread copies before it looks for more. */
#define TASK_BYTES ((size_t)256 * 1024)

/* --- queueing --- */

/* Threads that go on using a set cannot keep dpu_free() from ending. */
static dpu_error_t check_set(struct dpu_set_t set)
{
    dpu_error_t status = dpulib_check_set_locked(set);
    for (uint32_t i = 0; status == DPU_OK && i < dpulib_set_ranks(&set); i++)
        if (dpulib_set_rank(&set, i)->ending && !dpulib_is_in_callback())
            status = dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this set is being freed");
    return status;
}

/* Of an operation that waited: its set may have been freed meanwhile. */
static dpu_error_t check_ranks(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpulib_rank_job *job = &operation->jobs[i];
        struct dpu_rank_t *rank = job->rank;
        struct dpu_set_t one = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
        if (job->dpu != NULL)
            one = (struct dpu_set_t){.kind = DPU_SET_DPU, .dpu = job->dpu};
        dpu_error_t status = check_set(one);
        if (status != DPU_OK)
            return status;
    }

    return DPU_OK;
}

static bool is_full(const struct dpu_rank_t *rank)
{
    return rank->jobs >= rank->configuration.jobs_per_rank && !dpulib_is_held(rank);
}

static bool has_room(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++)
        if (is_full(operation->jobs[i].rank))
            return false;
    return true;
}

/* Waits until the queues have room for an asynchronous operation. */
static dpu_error_t wait_for_room(const struct dpulib_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++)
        if (operation->jobs[i].rank->configuration.threads_per_rank == 0)
            return dpulib_fail(DPU_ERR_NO_THREAD_PER_RANK,
                               "asynchronous calls are disabled: the profile says "
                               "nrThreadsPerRank=0");

    if (!dpulib_pool_is_ready())
        return dpulib_fail(DPU_ERR_SYSTEM, "no thread could be started");

    struct dpulib_silence silence = {0};
    while (!has_room(operation)) {
        dpulib_wait_told(&silence, &operation->set, CLOCK_NEVER);
        dpu_error_t status = check_ranks(operation);
        if (status != DPU_OK)
            return status;
    }

    return DPU_OK;
}

/* All rank jobs at once, so that two operations are in the same order in every queue. */
static void enqueue_all(struct dpulib_operation *operation)
{
    const bool async = operation->async; /* an asynchronous operation may be over at once */
    for (uint32_t i = 0, count = operation->count; i < count; i++) {
        struct dpulib_rank_job *job = &operation->jobs[i];
        if (!async && dpulib_is_held(job->rank))
            dpulib_start_held(job);
        else
            dpulib_enqueue(job);
    }
}

/* --- waiting --- */

/* A rank job that its caller is to perform now. */
static struct dpulib_rank_job *find_ready(struct dpulib_operation *operation)
{
    if (operation->executor == DPULIB_ONCE)
        return operation->collected == operation->count ? &operation->jobs[0] : NULL;
    for (uint32_t i = 0; i < operation->count; i++)
        if (operation->jobs[i].state == DPULIB_READY)
            return &operation->jobs[i];
    return NULL;
}

/* Performs rank jobs and tasks of the operation until all are done. With the lock. */
static void help_until_done(struct dpulib_operation *operation)
{
    struct dpulib_silence silence = {0};
    while (operation->left != 0) {
        struct dpulib_rank_job *job = find_ready(operation);
        if (job != NULL) {
            dpulib_unlock_and_release();
            dpulib_perform(job);
            dpulib_lock();
            dpulib_job_done(job);
        } else if (operation->executor == DPULIB_BY_POOL && dpulib_pool_help(operation)) {
            dpulib_tell_of_silence(&silence, &operation->set);
        } else {
            dpulib_wait_told(&silence, &operation->set, CLOCK_NEVER);
        }
    }
}

/* The error of the first rank that failed, with its text. */
static dpu_error_t result_of(const struct dpulib_operation *operation)
{
    dpu_error_t status = DPU_OK;
    uint32_t failures = 0;
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpulib_rank_job *job = &operation->jobs[i];
        failures += job->failures;
        if (status == DPU_OK && job->error != DPU_OK)
            status = dpulib_fail_again(job->error, "%s",
                                       job->detail != NULL ? job->detail : DPULIB_NO_DETAIL);
    }

    return dpulib_count_failures(status, failures);
}

bool dpulib_drain(struct dpu_set_t set, int64_t deadline)
{
    bool over = true;
    struct dpulib_silence silence = {0};
    dpulib_lock();
    for (uint32_t i = 0; over && i < dpulib_set_ranks(&set); i++) {
        const struct dpu_rank_t *rank = dpulib_set_rank(&set, i);
        if (rank == NULL || dpulib_is_held(rank))
            continue;

        uint64_t number = rank->queued;
        /* A callback would wait for itself. */
        while (over &&
               (!dpulib_is_past(rank, number) || (rank->detached != 0 && !dpulib_is_in_callback())))
            over = dpulib_wait_told(&silence, &set, deadline);
    }

    dpulib_unlock_and_release();
    return over;
}

bool dpulib_await_room(struct dpu_set_t set, int64_t deadline)
{
    bool room = true;
    struct dpulib_silence silence = {0};
    dpulib_lock();
    for (uint32_t i = 0; room && i < dpulib_set_ranks(&set); i++) {
        const struct dpu_rank_t *rank = dpulib_set_rank(&set, i);
        while (room && rank != NULL && is_full(rank))
            room = dpulib_wait_told(&silence, &set, deadline);
    }

    dpulib_unlock_and_release();
    return room;
}

/* --- submitting --- */

/* Chooses which threads perform it, and in how many tasks. */
static void choose_executor(struct dpulib_operation *operation)
{
    const struct dpulib_spec *spec = &operation->spec;
    if (spec->callback.function != NULL) {
        operation->executor = DPULIB_BY_CALL_THREAD;
        if (spec->callback.single && operation->count > 1)
            operation->executor = DPULIB_ONCE;
        else if (!operation->async && operation->count == 1)
            operation->executor = DPULIB_BY_CALLER;
        return;
    }

    operation->spread = dpulib_is_launch(operation);
    if (!spec->parallel && operation->dpus > 1 && spec->bytes >= SPREAD_BYTES / operation->dpus) {
        operation->spread = true;
        if (spec->bytes < TASK_BYTES)
            operation->span = (uint32_t)(TASK_BYTES / spec->bytes);
    }

    if (operation->spread)
        operation->executor = DPULIB_BY_POOL;
    else if (!operation->async)
        operation->executor = DPULIB_BY_CALLER;
    else
        operation->executor = spec->parallel ? DPULIB_BY_CALL_THREAD : DPULIB_BY_POOL;
}

/* Makes an operation of a call, and queues it: all under one lock, so that what was checked and
 * resolved is still there when it is queued. */
static dpu_error_t begin(const struct dpu_set_t *set, const struct dpulib_spec *spec, bool async,
                         struct dpulib_operation **made)
{
    dpu_error_t status = check_set(*set);
    if (status != DPU_OK)
        return status;
    struct dpulib_operation *operation = *made = dpulib_operation_new(set, spec);
    if (operation == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (operation)");

    if (spec->resolve != NULL)
        status = spec->resolve(set, &operation->spec);
    if (status != DPU_OK || operation->spec.nothing)
        return status;

    bool timed = async || spec->run == NULL || dpulib_records();
    operation->begin = timed ? clock_now() : 0;
    operation->async = async;
    choose_executor(operation);
    if (async)
        status = wait_for_room(operation);
    if (status == DPU_OK)
        enqueue_all(operation);
    return status;
}

dpu_error_t dpulib_submit(struct dpu_set_t set, const struct dpulib_spec *spec, bool async)
{
    struct dpulib_operation *operation = NULL;
    dpulib_lock();
    dpu_error_t status = begin(&set, spec, async, &operation);
    const bool queued = status == DPU_OK && !operation->spec.nothing;
    if (queued && !async)
        help_until_done(operation);
    dpulib_unlock_and_release();

    if (queued && async)
        return DPU_OK; /* it is freed when it is over */
    if (queued)
        status = result_of(operation);
    if (operation != NULL)
        dpulib_operation_free(operation);
    else if (spec->release != NULL)
        spec->release(spec->argument);
    return status;
}

dpu_error_t dpulib_run_on_rank(struct dpu_rank_t *rank, const struct dpulib_spec *spec)
{
    struct dpu_set_t set = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
    return dpulib_submit(set, spec, false);
}

dpu_error_t dpulib_run_on_dpu(struct dpu_t *dpu, const struct dpulib_spec *spec)
{
    struct dpu_set_t set = {.kind = DPU_SET_DPU, .dpu = dpu};
    return dpulib_submit(set, spec, false);
}
