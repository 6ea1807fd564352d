/* SPDX-License-Identifier: BSD-3-Clause */
/* debug.c: the functions of dpu_debug.h, for debuggers that keep a DPU's context themselves. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/state/checkpoint_format.h"
#include "dpu/lib/state/context_state.h"
#include "dpu_debug.h"

struct request {
    struct dpu_context_t *context;
    dpu_thread_t thread;
    uint64_t running;
};

static dpu_error_t on_dpu(struct dpu_t *dpu, dpu_error_t (*run)(struct dpu_t *, void *),
                          struct request *request)
{
    if (request->context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "context must not be NULL");
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = run, .argument = request});
}

/* --- contexts --- */

DPU_EXPORT dpu_error_t dpu_context_fill_from_rank(struct dpu_context_t *context,
                                                  struct dpu_rank_t *rank)
{
    if (context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "context must not be NULL");

    dpu_error_t error = dpulib_check_rank(rank);
    if (error != DPU_OK)
        return error;

    struct dpu_set_t set = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
    const struct dpu_t *dpu = dpulib_next_dpu(&set, &(struct dpulib_cursor){0});
    if (dpu == NULL)
        return dpulib_fail(DPU_ERR_DPU_DISABLED, "all DPUs of this rank are disabled");
    return dpulib_context_create_for(context, dpu->machine);
}

DPU_EXPORT void dpu_free_dpu_context(struct dpu_context_t *context)
{
    if (context != NULL)
        dpu_context_destroy(context);
}

DPU_EXPORT dpu_error_t dpu_pop_debug_context(struct dpu_t *dpu,
                                             struct dpu_context_t **debug_context)
{
    if (debug_context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "debug_context must not be NULL");
    *debug_context = NULL;
    return dpulib_check_dpu(dpu);
}

/* --- looking and changing --- */

static dpu_error_t extract_pcs(struct dpu_t *dpu, void *argument)
{
    const struct request *request = argument;
    dpu_error_t error = dpulib_context_check(request->context, dpu->machine);
    if (error == DPU_OK)
        dpulib_context_get_pcs(request->context, dpu->machine);
    return error;
}

static dpu_error_t extract_registers(struct dpu_t *dpu, void *argument)
{
    const struct request *request = argument;
    dpu_error_t error = dpulib_context_check(request->context, dpu->machine);
    if (error == DPU_OK)
        dpulib_context_get_registers(request->context, dpu->machine);
    return error;
}

static dpu_error_t restore(struct dpu_t *dpu, void *argument)
{
    const struct request *request = argument;
    dpu_error_t error = dpulib_context_check(request->context, dpu->machine);
    if (error == DPU_OK)
        dpulib_context_set_registers(request->context, dpu->machine);
    return error;
}

DPU_EXPORT dpu_error_t dpu_extract_pcs_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context)
{
    return on_dpu(dpu, extract_pcs, &(struct request){.context = context});
}

DPU_EXPORT dpu_error_t dpu_extract_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context)
{
    return on_dpu(dpu, extract_registers, &(struct request){.context = context});
}

DPU_EXPORT dpu_error_t dpu_restore_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context)
{
    return on_dpu(dpu, restore, &(struct request){.context = context});
}

/* --- faults and steps --- */

/* Between these functions no run bit is set: which tasklets run is in the context. */
static dpu_error_t initialize(struct dpu_t *dpu, void *argument)
{
    const struct request *request = argument;
    dpu_error_t error = dpulib_context_check(request->context, dpu->machine);
    if (error != DPU_OK)
        return error;

    dpulib_context_get_pcs(request->context, dpu->machine);
    dpulib_context_get_running(request->context, dpu->machine);
    dpulib_context_get_fault(request->context, dpu->machine);
    dpu_machine_clear_fault(dpu->machine);
    dpu->stuck = false;
    return DPU_OK;
}

static dpu_error_t step(struct dpu_t *dpu, void *argument)
{
    const struct request *request = argument;
    struct dpu_context_t *c = request->context;
    dpu_error_t error = dpulib_context_check(c, dpu->machine);
    if (error != DPU_OK)
        return error;

    if (request->thread >= c->info.nr_threads)
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "a DPU has %u tasklets, not a tasklet %u",
                           c->info.nr_threads, request->thread);

    uint64_t running = dpulib_context_running(c);
    if ((running >> request->thread & 1) == 0)
        return dpulib_fail(DPU_ERR_INTERNAL, "tasklet %u does not run, so it cannot step",
                           request->thread);

    uint64_t others = dpu_machine_get_run_bits(dpu->machine);
    dpu_machine_set_run_bits(dpu->machine, others | running);
    (void)dpu_machine_step_thread(dpu->machine, request->thread, NULL);
    dpulib_context_get_pcs(c, dpu->machine);
    dpulib_context_get_running(c, dpu->machine);
    dpulib_context_get_fault(c, dpu->machine);
    dpu_machine_clear_fault(dpu->machine);
    return DPU_OK;
}

static dpu_error_t finalize(struct dpu_t *dpu, void *argument)
{
    struct request *request = argument;
    dpu_error_t error = dpulib_context_check(request->context, dpu->machine);
    if (error != DPU_OK)
        return error;

    request->running = dpulib_context_running(request->context);
    uint64_t others = request->running & (request->running - 1);
    dpu_machine_set_run_bits(dpu->machine, dpu_machine_get_run_bits(dpu->machine) | others);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_initialize_fault_process_for_dpu(struct dpu_t *dpu,
                                                            struct dpu_context_t *context,
                                                            mram_addr_t error_store_addr)
{
    (void)error_store_addr;
    return on_dpu(dpu, initialize, &(struct request){.context = context});
}

DPU_EXPORT dpu_error_t dpu_execute_thread_step_in_fault_for_dpu(struct dpu_t *dpu,
                                                                dpu_thread_t thread,
                                                                struct dpu_context_t *context)
{
    return on_dpu(dpu, step, &(struct request){.context = context, .thread = thread});
}

DPU_EXPORT dpu_error_t dpu_finalize_fault_process_for_dpu(struct dpu_t *dpu,
                                                          struct dpu_context_t *context)
{
    struct request request = {.context = context};
    dpu_error_t error = on_dpu(dpu, finalize, &request);
    return error != DPU_OK ? error : dpulib_context_go_on(dpu, request.running);
}

/* --- attaching --- */

DPU_EXPORT dpu_error_t dpu_set_debug_slice_info(struct dpu_rank_t *rank, uint32_t slice_id,
                                                uint64_t structure_value, uint64_t slice_target,
                                                dpu_bitfield_t host_mux_mram_state)
{
    (void)structure_value, (void)slice_target, (void)host_mux_mram_state;
    dpu_error_t status = dpulib_check_rank(rank);
    if (status == DPU_OK && slice_id >= DPU_MAX_NR_CIS)
        return dpulib_fail(DPU_ERR_INTERNAL, "a rank has %d slices, not a slice %u", DPU_MAX_NR_CIS,
                           slice_id);
    return status;
}

DPU_EXPORT dpu_error_t dpu_save_context_for_rank(struct dpu_rank_t *rank)
{
    return dpulib_check_rank(rank);
}

DPU_EXPORT dpu_error_t dpu_restore_context_for_rank(struct dpu_rank_t *rank)
{
    return dpulib_check_rank(rank);
}

DPU_EXPORT dpu_error_t dpu_restore_mux_context_for_rank(struct dpu_rank_t *rank)
{
    return dpulib_check_rank(rank);
}
