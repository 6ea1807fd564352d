/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: running programs, asking how they do, and waiting for them. */
#include "dpu/core.h"
#include "common/clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Some milliseconds, or some tens of them with many tasklets. Then others have their turn. */
#define SLICE_ROUNDS 1000000

static bool is_interrupted(const struct dpu_t *dpu)
{
    dpulib_lock();
    bool interrupted = dpu->interrupted;
    dpulib_unlock();
    return interrupted;
}

static dpu_error_t end_in_fault(struct dpu_t *dpu)
{
    char text[512];
    dpu->status = DPUSOFT_FAULT;
    dpulib_describe_fault(dpu, text, sizeof(text));
    const char *path = dpu->program != NULL ? dpu->program->program_path : NULL;
    dpulib_log(DPULIB_WARNING, "DPU %u.%u.%u '%s' is in fault", dpu->rank->id, dpu->slice,
               dpu->member, path != NULL ? path : "");
    dpulib_log(DPULIB_INFO, "%s", text);
    return dpulib_fail(DPU_ERR_DPU_FAULT, "%s", text);
}

/* It keeps the state that it was stopped in, and does not run until it is loaded. */
static dpu_error_t end_early(struct dpu_t *dpu, enum dpusoft_status status)
{
    char text[1000];
    dpu->status = (uint32_t)status;
    dpu->stuck = true;
    dpulib_describe_fault(dpu, text, sizeof(text));
    return dpulib_fail(DPU_ERR_TIMEOUT, "%s", text);
}

static dpu_error_t refuse_stuck(const struct dpu_t *dpu)
{
    return dpulib_fail(DPU_ERR_TIMEOUT,
                       "DPU %u.%u.%u was stopped in the middle of its program: load one again",
                       dpu->rank->id, dpu->slice, dpu->member);
}

static dpu_error_t begin(struct dpu_t *dpu, const struct dpulib_boot *boot)
{
    struct dpu_machine *machine = dpu->machine;
    struct dpu_thread_state state;
    dpu->status = DPUSOFT_STEPPED;
    if (boot->boot) {
        dpu_machine_boot(machine);
        return DPU_OK;
    }
    if (!dpu_machine_get_thread(machine, boot->thread, &state))
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "a DPU has %u tasklets, not a tasklet %u",
                           dpu_machine_thread_count(machine), boot->thread);
    state.running = 1;
    if (!boot->resume)
        state.pc = 0;
    dpu_machine_set_thread(machine, boot->thread, &state);
    return DPU_OK;
}

/* What waits for the DPU to stand still comes first, or it might wait for ever. */
static enum dpu_run_status take_turn(struct dpu_t *dpu)
{
    while (atomic_load_explicit(&dpu->waiting, memory_order_acquire) != 0)
        sched_yield();
    pthread_mutex_lock(&dpu->turn);
    enum dpu_run_status status = dpu_machine_step(dpu->machine, SLICE_ROUNDS, &dpu->result);
    pthread_mutex_unlock(&dpu->turn);
    return status;
}

/* Called again and again while it returns DPULIB_AGAIN; `stepping` is set in between. */
static dpu_error_t run(struct dpu_t *dpu, void *argument)
{
    if (!dpu->stepping) {
        if (dpu->stuck)
            return refuse_stuck(dpu);
        if (is_interrupted(dpu))
            return end_early(dpu, DPUSOFT_INTERRUPTED);
        dpu_error_t status = begin(dpu, argument);
        if (status != DPU_OK)
            return status;
    }
    dpu->stepping = false;
    switch (take_turn(dpu)) {
    case DPU_RUN_DONE: dpu->status = DPUSOFT_DONE; return DPU_OK;
    case DPU_RUN_FAULT: return end_in_fault(dpu);
    case DPU_RUN_CYCLE_LIMIT: return end_early(dpu, DPUSOFT_CYCLE_LIMIT);
    case DPU_RUN_STEPPED:
    case DPU_RUN_INTERRUPTED: break;
    }
    if (is_interrupted(dpu))
        return end_early(dpu, DPUSOFT_INTERRUPTED);
    dpu->stepping = true;
    return DPULIB_AGAIN;
}

dpu_error_t dpulib_launch(struct dpu_set_t set, struct dpulib_boot boot, bool async)
{
    struct dpulib_boot *argument = malloc(sizeof(*argument));
    struct dpulib_operation *operation = NULL;
    dpu_error_t status = dpulib_check_set(set);
    if (status != DPU_OK) {
        free(argument);
        return status;
    }
    struct dpulib_work work = {
        .kind = set.kind == DPU_SET_DPU ? DPULIB_JOB_LAUNCH_DPU : DPULIB_JOB_LAUNCH_RANK,
        .run = run,
        .argument = argument,
        .release = free,
    };
    if (argument != NULL)
        operation = dpulib_operation_new(set, &work);
    if (operation == NULL) {
        free(argument);
        return dpulib_fail(DPU_ERR_SYSTEM, "there is no memory for a job");
    }
    *argument = boot;
    operation->launch = true;
    operation->async = async;
    operation->spread = true;
    operation->style = DPULIB_POOL;
    return dpulib_operation_run(operation);
}

static dpu_error_t check_programs(struct dpu_set_t set)
{
    struct dpu_t *dpu;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
        if (dpu->program == NULL)
            status = dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED,
                                 "DPU %u.%u.%u has no program: load one first", dpu->rank->id,
                                 dpu->slice, dpu->member);
    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpu_launch(struct dpu_set_t dpu_set, dpu_launch_policy_t policy)
{
    dpu_error_t status = check_programs(dpu_set);
    if (status != DPU_OK)
        return status;
    return dpulib_launch(dpu_set, (struct dpulib_boot){.boot = true}, policy == DPU_ASYNCHRONOUS);
}

DPU_EXPORT dpu_error_t dpu_status(struct dpu_set_t dpu_set, bool *done, bool *fault)
{
    struct dpu_t *dpu;
    bool all_done = true, one_in_fault = false;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(dpu_set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&dpu_set, &at)) != NULL;) {
        all_done = all_done && dpu->launches == 0;
        one_in_fault = one_in_fault || dpu->in_fault;
    }
    dpulib_unlock();
    if (status == DPU_OK && done != NULL)
        *done = all_done;
    if (status == DPU_OK && fault != NULL)
        *fault = one_in_fault;
    return status;
}

DPU_EXPORT dpu_error_t dpu_sync(struct dpu_set_t dpu_set)
{
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;
    dpulib_drain(dpu_set, CLOCK_NEVER);
    dpulib_lock();
    status = dpulib_check_set_locked(dpu_set);
    if (status != DPU_OK) {
        dpulib_unlock();
        return status;
    }
    for (uint32_t i = 0; i < dpulib_set_ranks(&dpu_set); i++) {
        struct dpu_rank_t *rank = dpulib_set_rank(&dpu_set, i);
        if (status == DPU_OK && rank->error != DPU_OK)
            status = dpulib_fail(rank->error, "%s", rank->detail != NULL ? rank->detail : "");
        rank->error = DPU_OK;
        free(rank->detail);
        rank->detail = NULL;
    }
    dpulib_unlock();
    return status;
}
