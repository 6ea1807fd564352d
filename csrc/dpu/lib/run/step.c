/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c: running one DPU step by step, and to breakpoints. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/fault.h"
#include "dpu/lib/run/launch_report.h"
#include "dpu/lib/schedule/submit.h"
#include "dpusoft.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_THREAD UINT32_MAX
/* Rounds between two checks for an interrupt. */
#define SLICE_ROUNDS 1000000

struct step {
    uint32_t thread;
    uint64_t count;
    struct dpusoft_report *report;
};

static dpu_error_t run_on(struct dpu_set_t set, dpu_error_t (*run)(struct dpu_t *, void *),
                          void *argument)
{
    struct dpu_t *dpu;
    dpu_error_t status = dpulib_check_single(set, &dpu);
    if (status != DPU_OK)
        return status;
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = run, .argument = argument});
}

static dpu_error_t boot(struct dpu_t *dpu, void *unused)
{
    (void)unused;
    if (dpu->program == NULL)
        return dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED, "no program is loaded: load one first");

    dpu_machine_set_run_bits(dpu->machine, 0);
    dpu_machine_boot(dpu->machine);
    dpu_machine_get_result(dpu->machine, &dpu->result);
    dpu->stuck = true;
    dpu->status = DPUSOFT_STEPPED;
    if (dpu->result.fault == DPU_FAULT_NONE)
        return DPU_OK;

    dpu->status = DPUSOFT_FAULT;
    char text[512];
    dpulib_describe_fault(dpu, text, sizeof text);
    return dpulib_fail(DPU_ERR_DPU_FAULT, "%s", text);
}

DPU_EXPORT dpu_error_t dpusoft_debug_boot(struct dpu_set_t dpu)
{
    return run_on(dpu, boot, NULL);
}

static bool is_running(const struct dpu_t *dpu)
{
    uint64_t threads = (UINT64_C(1) << dpu_machine_thread_count(dpu->machine)) - 1;
    return (dpu_machine_get_run_bits(dpu->machine) & threads) != 0;
}

/* A debugged launch that is over shows in dpu_status() as another does. */
static void note(struct dpu_t *dpu, enum dpu_run_status status, struct dpusoft_report *report)
{
    uint32_t shown = DPUSOFT_STEPPED;
    switch (status) {
    case DPU_RUN_DONE: shown = DPUSOFT_DONE; break;
    case DPU_RUN_FAULT: shown = DPUSOFT_FAULT; break;
    case DPU_RUN_NO_MEMORY:
    case DPU_RUN_INTERRUPTED: shown = DPUSOFT_INTERRUPTED; break;
    case DPU_RUN_CYCLE_LIMIT: shown = DPUSOFT_CYCLE_LIMIT; break;
    case DPU_RUN_STEPPED: break;
    }

    dpu->status = shown;

    /* A launch that is not over cannot be followed by another. */
    dpu->stuck = shown != DPUSOFT_DONE && shown != DPUSOFT_FAULT;
    dpu_machine_get_result(dpu->machine, &dpu->result);
    dpulib_lock();
    dpu->in_fault = shown == DPUSOFT_FAULT;
    dpulib_unlock();

    if (report != NULL)
        dpulib_fill_launch_report(dpu, shown, report);
}

static dpu_error_t step(struct dpu_t *dpu, void *argument)
{
    const struct step *step = argument;
    enum dpu_run_status status = DPU_RUN_STEPPED;
    struct dpu_thread_state state;
    if (step->thread == EVERY_THREAD) {
        status = dpu_machine_step(dpu->machine, step->count, NULL);
        note(dpu, status, step->report);
        return DPU_OK;
    }
    if (!dpu_machine_get_thread(dpu->machine, step->thread, &state))
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "a DPU has %u tasklets, not a tasklet %u",
                           dpu_machine_thread_count(dpu->machine), step->thread);
    if (!state.running)
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "tasklet %u is not running", step->thread);

    for (uint64_t i = 0; i < step->count && status == DPU_RUN_STEPPED && state.running; i++) {
        status = dpu_machine_step_thread(dpu->machine, step->thread, NULL);
        dpu_machine_get_thread(dpu->machine, step->thread, &state);
        /* "Done" here is of this tasklet; another one may run. */
        if (status == DPU_RUN_DONE && is_running(dpu))
            status = DPU_RUN_STEPPED;
    }

    if (status == DPU_RUN_STEPPED && !is_running(dpu))
        status = DPU_RUN_DONE;
    note(dpu, status, step->report);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_debug_step(struct dpu_set_t dpu, uint32_t thread, uint64_t count,
                                          struct dpusoft_report *report)
{
    dpu_error_t status = report != NULL ? dpulib_check_launch_report(report) : DPU_OK;
    if (status != DPU_OK)
        return status;
    struct step what = {thread, count, report};
    return run_on(dpu, step, &what);
}

static bool has_breakpoint(const struct dpu_t *dpu, uint32_t pc)
{
    return dpu->breakpoints != NULL && (dpu->breakpoints[pc / 64] >> (pc % 64) & 1) != 0;
}

static bool stands_at_breakpoint(const struct dpu_t *dpu)
{
    uint64_t bits = dpu_machine_get_run_bits(dpu->machine);
    for (uint32_t i = 0; i < dpu_machine_thread_count(dpu->machine); i++) {
        struct dpu_thread_state state;
        if ((bits >> i & 1) != 0 && dpu_machine_get_thread(dpu->machine, i, &state) &&
            has_breakpoint(dpu, state.pc))
            return true;
    }
    return false;
}

static void set_debugging(struct dpu_t *dpu, bool debugging)
{
    dpulib_lock();
    dpu->debugging = debugging;
    dpulib_unlock();
}

static dpu_error_t go_on(struct dpu_t *dpu, void *argument)
{
    const struct step *what = argument;
    uint64_t left = what->count != 0 ? what->count : UINT64_MAX;
    enum dpu_run_status status = DPU_RUN_STEPPED;

    /* A round has to be over before the pcs can be looked at. The first one leaves the breakpoint
     * that the last call stopped at. */
    uint64_t slice = dpu->breakpoints != NULL ? 1 : SLICE_ROUNDS;
    bool stopped = false;
    set_debugging(dpu, true);
    while (status == DPU_RUN_STEPPED && left != 0 && !stopped) {
        uint64_t rounds = left < slice ? left : slice;
        status = dpu_machine_step(dpu->machine, rounds, NULL);
        left -= rounds;
        stopped = status == DPU_RUN_STEPPED && stands_at_breakpoint(dpu);
    }

    set_debugging(dpu, false);
    note(dpu, status, what->report);
    if (stopped) {
        dpu->status = DPUSOFT_BREAKPOINT;
        if (what->report != NULL)
            what->report->status = DPUSOFT_BREAKPOINT;
    }

    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_debug_continue(struct dpu_set_t dpu, uint64_t max_rounds,
                                              struct dpusoft_report *report)
{
    dpu_error_t status = report != NULL ? dpulib_check_launch_report(report) : DPU_OK;
    if (status != DPU_OK)
        return status;
    struct step what = {EVERY_THREAD, max_rounds, report};
    return run_on(dpu, go_on, &what);
}

struct breakpoint {
    uint32_t pc;
    bool set;
};

static dpu_error_t set_breakpoint(struct dpu_t *dpu, void *argument)
{
    const struct breakpoint *breakpoint = argument;
    uint32_t words = DPU_MACHINE_IRAM / 64;
    uint64_t bit = UINT64_C(1) << (breakpoint->pc % 64);
    if (breakpoint->pc >= dpu_machine_iram_size(dpu->machine))
        return dpulib_fail(DPU_ERR_INVALID_IRAM_ACCESS, "IRAM has no instruction 0x%x",
                           breakpoint->pc);
    if (dpu->breakpoints == NULL && breakpoint->set) {
        dpu->breakpoints = calloc(words, sizeof *dpu->breakpoints);
        if (dpu->breakpoints == NULL)
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (breakpoint)");
    }
    if (dpu->breakpoints == NULL)
        return DPU_OK;

    uint64_t *word = &dpu->breakpoints[breakpoint->pc / 64];
    *word = breakpoint->set ? *word | bit : *word & ~bit;
    uint64_t any = 0;
    for (uint32_t i = 0; i < words; i++)
        any |= dpu->breakpoints[i];

    if (any == 0) {
        free(dpu->breakpoints);
        dpu->breakpoints = NULL;
    }

    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_debug_set_breakpoint(struct dpu_set_t dpu, uint32_t pc, bool set)
{
    struct breakpoint breakpoint = {pc, set};
    return run_on(dpu, set_breakpoint, &breakpoint);
}

struct access {
    uint32_t thread;
    struct dpu_thread_state state;
};

static dpu_error_t no_thread(const struct dpu_t *dpu, const struct access *access)
{
    return dpulib_fail(DPU_ERR_INVALID_THREAD_ID,
                       "a DPU has %u tasklets and %u instructions; not a tasklet %u, or not a pc "
                       "0x%x",
                       dpu_machine_thread_count(dpu->machine), dpu_machine_iram_size(dpu->machine),
                       access->thread, access->state.pc);
}

static dpu_error_t get_thread(struct dpu_t *dpu, void *argument)
{
    struct access *access = argument;
    access->state.pc = 0;
    if (!dpu_machine_get_thread(dpu->machine, access->thread, &access->state))
        return no_thread(dpu, access);
    return DPU_OK;
}

static dpu_error_t set_thread(struct dpu_t *dpu, void *argument)
{
    const struct access *access = argument;
    if (!dpu_machine_set_thread(dpu->machine, access->thread, &access->state))
        return no_thread(dpu, access);
    return DPU_OK;
}

static dpu_error_t check_thread(const struct dpusoft_thread *state)
{
    if (state == NULL || state->size < sizeof *state)
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE,
                           "state is NULL, or its field size is not set");
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_debug_get_thread(struct dpu_set_t dpu, uint32_t thread,
                                                struct dpusoft_thread *state)
{
    struct access access = {.thread = thread};
    dpu_error_t status = check_thread(state);
    if (status == DPU_OK)
        status = run_on(dpu, get_thread, &access);
    if (status != DPU_OK)
        return status;

    memcpy(state->registers, access.state.registers, sizeof state->registers);
    state->pc = access.state.pc;
    state->zero = access.state.zero;
    state->carry = access.state.carry;
    state->running = access.state.running;
    state->reserved = 0;
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_debug_set_thread(struct dpu_set_t dpu, uint32_t thread,
                                                const struct dpusoft_thread *state)
{
    struct access access = {.thread = thread};
    dpu_error_t status = check_thread(state);
    if (status != DPU_OK)
        return status;

    memcpy(access.state.registers, state->registers, sizeof state->registers);
    access.state.pc = state->pc;
    access.state.zero = state->zero != 0;
    access.state.carry = state->carry != 0;
    access.state.running = state->running != 0;
    return run_on(dpu, set_thread, &access);
}
