/* SPDX-License-Identifier: BSD-3-Clause */
/* runner.c: booting, polling and resetting, below launches. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/launch.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu_config.h"
#include "dpu_management.h"
#include "dpu_runner.h"
#include "dpusoft.h"

#include <string.h>

DPU_EXPORT dpu_error_t dpu_boot_rank(struct dpu_rank_t *rank)
{
    return dpu_launch(dpu_set_from_rank(&rank), DPU_ASYNCHRONOUS);
}

DPU_EXPORT dpu_error_t dpu_boot_dpu(struct dpu_t *dpu)
{
    return dpu_launch(dpu_set_from_dpu(dpu), DPU_ASYNCHRONOUS);
}

static dpu_error_t boot_thread(struct dpu_set_t set, dpu_thread_t thread, bool resume)
{
    uint32_t threads = 0;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    if (status == DPU_OK)
        threads = dpulib_set_rank(&set, 0)->description->hw.dpu.nr_of_threads;
    dpulib_unlock();

    if (status != DPU_OK)
        return status;
    if (thread >= threads)
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "a DPU has %u tasklets, not a tasklet %u",
                           threads, thread);

    bool done = true;
    status = dpu_status(set, &done, NULL);
    if (status == DPU_OK && !done)
        return dpulib_fail(DPU_ERR_DPU_ALREADY_RUNNING,
                           "a tasklet can be started by the host only while the DPU stands still");
    if (status != DPU_OK)
        return status;
    return dpulib_launch(set, (struct dpulib_boot){.thread = thread, .resume = resume}, true);
}

DPU_EXPORT dpu_error_t dpu_launch_thread_on_rank(struct dpu_rank_t *rank, dpu_thread_t thread,
                                                 bool should_resume)
{
    return boot_thread(dpu_set_from_rank(&rank), thread, should_resume);
}

DPU_EXPORT dpu_error_t dpu_launch_thread_on_dpu(struct dpu_t *dpu, dpu_thread_t thread,
                                                bool should_resume)
{
    return boot_thread(dpu_set_from_dpu(dpu), thread, should_resume);
}

DPU_EXPORT dpu_error_t dpu_status_rank(struct dpu_rank_t *rank, bool *done, bool *fault)
{
    return dpu_status(dpu_set_from_rank(&rank), done, fault);
}

DPU_EXPORT dpu_error_t dpu_status_dpu(struct dpu_t *dpu, bool *done, bool *fault)
{
    return dpu_status(dpu_set_from_dpu(dpu), done, fault);
}

DPU_EXPORT dpu_error_t dpu_poll_rank(struct dpu_rank_t *rank)
{
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(dpu_set_from_rank(&rank));
    if (status != DPU_OK) {
        dpulib_unlock();
        return status;
    }

    struct _dpu_run_context_t context;
    memset(&context, 0, sizeof context);
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++) {
        const struct dpu_t *dpu = &rank->dpus[i];
        dpu_bitfield_t bit = (dpu_bitfield_t)(1u << dpu->member);
        if (dpu->launches != 0) {
            context.dpu_running[dpu->slice] |= bit;
            context.nb_dpu_running++;
        }
        if (dpu->in_fault)
            context.dpu_in_fault[dpu->slice] |= bit;
    }

    rank->run_context = context;
    dpulib_unlock();
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_poll_dpu(struct dpu_t *dpu, bool *dpu_is_running, bool *dpu_is_in_fault)
{
    bool done = true;
    dpu_error_t status = dpu_status(dpu_set_from_dpu(dpu), &done, dpu_is_in_fault);
    if (status == DPU_OK && dpu_is_running != NULL)
        *dpu_is_running = !done;
    return status;
}

DPU_EXPORT dpu_run_context_t dpu_get_run_context(struct dpu_rank_t *rank)
{
    return dpulib_check_rank(rank) == DPU_OK ? &rank->run_context : NULL;
}

static dpu_error_t reset(struct dpu_t *dpu, void *unused)
{
    (void)unused;
    struct dpu_machine *machine = dpu->machine;
    struct dpu_thread_state state;
    memset(&state, 0, sizeof state);
    dpu_machine_clear_fault(machine);
    dpu_machine_set_run_bits(machine, 0);
    for (uint32_t i = 0; i < dpu_machine_thread_count(machine); i++)
        dpu_machine_set_thread(machine, i, &state);

    for (uint32_t i = 0; i < DPU_MACHINE_ATOMIC_BITS; i++)
        dpu_machine_set_atomic(machine, i, false);

    memset(&dpu->result, 0, sizeof dpu->result);
    dpu->status = DPUSOFT_NEVER_LAUNCHED;
    dpu->stuck = false;
    dpulib_lock();
    dpu->in_fault = false;
    dpulib_unlock();
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_reset_rank(struct dpu_rank_t *rank)
{
    return dpulib_run_on_rank(rank, &(struct dpulib_spec){.run = reset});
}

DPU_EXPORT dpu_error_t dpu_reset_dpu(struct dpu_t *dpu)
{
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = reset});
}
