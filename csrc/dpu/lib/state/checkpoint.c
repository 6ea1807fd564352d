/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.c: saving and restoring the state of one DPU. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/state/checkpoint_format.h"
#include "dpu/lib/state/context_state.h"
#include "dpu_checkpoint.h"

#include <stdlib.h>
#include <string.h>

struct checkpoint {
    struct dpu_context_t *context;
    uint32_t flags;
    uint64_t running; /* tasklets to go on */
};

/* --- saving --- */

static dpu_error_t save_memories(const struct checkpoint *checkpoint, const struct dpu_machine *m)
{
    struct dpu_context_t *c = checkpoint->context;
    const size_t wram_size = dpu_machine_wram_size(m);
    if ((checkpoint->flags & DPU_CHECKPOINT_IRAM) != 0) {
        c->iram = malloc(c->info.iram_size * sizeof *c->iram);
        if (c->iram == NULL || !dpu_machine_read_iram(m, 0, c->iram, c->info.iram_size))
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (IRAM)");
    }

    if ((checkpoint->flags & DPU_CHECKPOINT_MRAM) != 0) {
        c->mram = malloc(c->info.mram_size);
        if (c->mram == NULL || !dpu_machine_read_mram(m, 0, c->mram, c->info.mram_size))
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (MRAM)");
    }

    if ((checkpoint->flags & DPU_CHECKPOINT_WRAM) != 0) {
        c->wram = malloc(wram_size);
        if (c->wram == NULL || !dpu_machine_read_wram(m, 0, c->wram, wram_size))
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (WRAM)");
    }

    return DPU_OK;
}

/* The vendor's library leaves 0 for what does not run; that is enough to tell if nothing does, or
 * only the tasklet in fault. */
static void simplify_scheduling(struct dpu_context_t *c)
{
    bool in_fault = c->bkp_fault || c->dma_fault || c->mem_fault;
    if (c->nr_of_running_threads == 0 || (c->nr_of_running_threads == 1 && in_fault))
        memset(c->scheduling, 0, c->info.nr_threads);
}

static dpu_error_t run_save(struct dpu_t *dpu, void *argument)
{
    const struct checkpoint *checkpoint = argument;
    struct dpu_context_t *c = checkpoint->context;
    dpu_error_t error = dpulib_context_create_for(c, dpu->machine);
    if (error == DPU_OK)
        error = save_memories(checkpoint, dpu->machine);
    if (error != DPU_OK) {
        dpu_context_destroy(c);
        return error;
    }

    if ((checkpoint->flags & DPU_CHECKPOINT_INTERNAL) == 0)
        return DPU_OK;

    dpulib_context_get_pcs(c, dpu->machine);
    dpulib_context_get_registers(c, dpu->machine);
    dpulib_context_get_running(c, dpu->machine);
    dpulib_context_get_fault(c, dpu->machine);
    simplify_scheduling(c);
    if (c->bkp_fault || c->dma_fault || c->mem_fault)
        dpu_machine_clear_fault(dpu->machine);
    return DPU_OK;
}

static dpu_error_t check_context(const struct dpu_context_t *context)
{
    if (context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "context must not be NULL");
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_checkpoint_save(struct dpu_set_t set, dpu_checkpoint_flags_t flags,
                                           struct dpu_context_t *context)
{
    struct dpu_t *dpu;
    struct checkpoint checkpoint = {context, (uint32_t)flags, 0};
    dpu_error_t error = check_context(context);
    if (error == DPU_OK)
        error = dpulib_check_single(set, &dpu);
    if (error != DPU_OK)
        return error;
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = run_save, .argument = &checkpoint});
}

/* --- restoring --- */

/* The sizes come from a file, and the memories of two DPUs may differ. */
static dpu_error_t check_memories(const struct checkpoint *checkpoint, const struct dpu_machine *m)
{
    const struct dpu_context_t *c = checkpoint->context;
    const char *too_large = NULL;
    if (c->iram != NULL && c->info.iram_size > dpu_machine_iram_size(m))
        too_large = "IRAM";
    if (c->mram != NULL && c->info.mram_size > dpu_machine_mram_size(m))
        too_large = "MRAM";
    if (c->wram != NULL && c->info.wram_size > dpu_machine_wram_size(m) / 4)
        too_large = "WRAM";
    if (too_large != NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the saved %s is larger than that of the DPU",
                           too_large);
    return DPU_OK;
}

/* Memories that were not saved stay as they are. */
static void restore_memories(const struct checkpoint *checkpoint, struct dpu_machine *m)
{
    const struct dpu_context_t *c = checkpoint->context;
    if ((checkpoint->flags & DPU_CHECKPOINT_IRAM) != 0 && c->iram != NULL)
        (void)dpu_machine_write_iram(m, 0, c->iram, c->info.iram_size);
    if ((checkpoint->flags & DPU_CHECKPOINT_MRAM) != 0 && c->mram != NULL)
        (void)dpu_machine_write_mram(m, 0, c->mram, c->info.mram_size);
    if ((checkpoint->flags & DPU_CHECKPOINT_WRAM) != 0 && c->wram != NULL)
        (void)dpu_machine_write_wram(m, 0, c->wram, (size_t)c->info.wram_size * 4);
}

static dpu_error_t restore_state(struct checkpoint *checkpoint, struct dpu_t *dpu)
{
    const struct dpu_context_t *c = checkpoint->context;
    const bool in_fault = c->bkp_fault || c->dma_fault || c->mem_fault;
    dpu_error_t error = dpulib_context_set_fault(c, dpu->machine);
    if (error != DPU_OK)
        return error;

    dpulib_context_set_registers(c, dpu->machine);
    checkpoint->running = in_fault ? 0 : dpulib_context_running(c);

    /* All but the one that is resumed by a launch. */
    uint64_t running =
        in_fault ? dpulib_context_running(c) : checkpoint->running & (checkpoint->running - 1);
    dpu_machine_set_run_bits(dpu->machine, dpu_machine_get_run_bits(dpu->machine) | running);
    dpu->stuck = false;
    dpulib_lock();
    dpu->in_fault = in_fault;
    dpulib_unlock();
    return DPU_OK;
}

static dpu_error_t run_restore(struct dpu_t *dpu, void *argument)
{
    struct checkpoint *checkpoint = argument;
    dpu_error_t error = check_memories(checkpoint, dpu->machine);
    if (error == DPU_OK && (checkpoint->flags & DPU_CHECKPOINT_INTERNAL) != 0)
        error = dpulib_context_check(checkpoint->context, dpu->machine);
    if (error == DPU_OK && (checkpoint->flags & DPU_CHECKPOINT_INTERNAL) != 0)
        error = restore_state(checkpoint, dpu);
    if (error == DPU_OK)
        restore_memories(checkpoint, dpu->machine);
    return error;
}

DPU_EXPORT dpu_error_t dpu_checkpoint_restore(struct dpu_set_t set, dpu_checkpoint_flags_t flags,
                                              struct dpu_context_t *context)
{
    struct dpu_t *dpu;
    struct checkpoint checkpoint = {context, (uint32_t)flags, 0};
    dpu_error_t error = check_context(context);
    if (error == DPU_OK)
        error = dpulib_check_single(set, &dpu);
    if (error == DPU_OK)
        error = dpulib_run_on_dpu(
            dpu, &(struct dpulib_spec){.run = run_restore, .argument = &checkpoint});
    return error != DPU_OK ? error : dpulib_context_go_on(dpu, checkpoint.running);
}

/* --- bytes --- */

DPU_EXPORT uint32_t dpu_checkpoint_get_serialized_context_size(struct dpu_context_t *context)
{
    return context == NULL ? 0 : (uint32_t)dpu_checkpoint_size(context);
}

DPU_EXPORT dpu_error_t dpu_checkpoint_serialize(struct dpu_context_t *context,
                                                uint8_t **serialized_context,
                                                uint32_t *serialized_context_size)
{
    dpu_error_t error = check_context(context);
    if (error != DPU_OK)
        return error;
    if (context->registers == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "this context has no state; it has been freed");

    if (serialized_context == NULL || serialized_context_size == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL,
                           "serialized_context and serialized_context_size must not be NULL");

    const uint32_t size = (uint32_t)dpu_checkpoint_size(context);
    if (*serialized_context == NULL) {
        *serialized_context = malloc(size);
        if (*serialized_context == NULL)
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (%u bytes)", size);

        *serialized_context_size = size;
    } else if (*serialized_context_size != size) {
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE, "the buffer has %u bytes, the state %u",
                           *serialized_context_size, size);
    }

    dpu_checkpoint_write(context, *serialized_context);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_checkpoint_deserialize(const uint8_t *serialized_context,
                                                  uint32_t serialized_context_size,
                                                  struct dpu_context_t *context)
{
    dpu_error_t error = check_context(context);
    if (error != DPU_OK)
        return error;

    if (serialized_context == NULL)
        serialized_context_size = 0;
    enum dpu_checkpoint_status status =
        dpu_checkpoint_read(serialized_context, serialized_context_size, context);
    if (status == DPU_CHECKPOINT_OK)
        return DPU_OK;
    return dpulib_fail(status == DPU_CHECKPOINT_NO_MEMORY ? DPU_ERR_SYSTEM
                                                          : DPU_ERR_ELF_INVALID_FILE,
                       "%s", dpu_checkpoint_status_text(status));
}

DPU_EXPORT dpu_error_t dpu_checkpoint_free(struct dpu_context_t *context)
{
    if (context != NULL)
        dpu_context_destroy(context);
    return DPU_OK;
}
