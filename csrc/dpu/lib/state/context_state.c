/* SPDX-License-Identifier: BSD-3-Clause */
/* context_state.c: registers, flags, pcs, atomic bits, running tasklets, faults. */
#include "dpu/lib/state/context_state.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/run/launch.h"
#include "dpu/lib/state/checkpoint_format.h"

#include <string.h>

dpu_error_t dpulib_context_create_for(struct dpu_context_t *c, const struct dpu_machine *machine)
{
    if (!dpu_context_create(c, dpu_machine_thread_count(machine), DPU_MACHINE_REGISTERS,
                            DPU_MACHINE_ATOMIC_BITS))
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (state of a DPU)");
    c->info.iram_size = (iram_size_t)dpu_machine_iram_size(machine);
    c->info.mram_size = dpu_machine_mram_size(machine);
    c->info.wram_size = dpu_machine_wram_size(machine) / 4;
    return DPU_OK;
}

dpu_error_t dpulib_context_check(const struct dpu_context_t *c, const struct dpu_machine *machine)
{
    if (c->registers == NULL || c->pcs == NULL || c->atomic_register == NULL ||
        c->zero_flags == NULL || c->carry_flags == NULL || c->scheduling == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL,
                           "this context has no arrays; it has not been filled, or "
                           "it has been freed");
    if (c->info.nr_threads != dpu_machine_thread_count(machine))
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID,
                           "this context is of a DPU with %u tasklets, "
                           "this DPU has %u",
                           c->info.nr_threads, dpu_machine_thread_count(machine));
    if (c->info.nr_registers != DPU_MACHINE_REGISTERS ||
        c->info.nr_atomic_bits != DPU_MACHINE_ATOMIC_BITS)
        return dpulib_fail(DPU_ERR_INTERNAL,
                           "this context has %u registers a tasklet and %u atomic bits, a DPU has "
                           "%d and %d",
                           c->info.nr_registers, c->info.nr_atomic_bits, DPU_MACHINE_REGISTERS,
                           DPU_MACHINE_ATOMIC_BITS);
    return DPU_OK;
}

/* --- from the machine --- */

void dpulib_context_get_pcs(struct dpu_context_t *c, const struct dpu_machine *machine)
{
    struct dpu_thread_state state;
    for (uint32_t t = 0; t < c->info.nr_threads; t++) {
        (void)dpu_machine_get_thread(machine, t, &state);
        c->pcs[t] = (iram_addr_t)state.pc;
    }
}

void dpulib_context_get_registers(struct dpu_context_t *c, const struct dpu_machine *machine)
{
    struct dpu_thread_state state;
    for (uint32_t t = 0; t < c->info.nr_threads; t++) {
        (void)dpu_machine_get_thread(machine, t, &state);
        memcpy(c->registers + (size_t)t * DPU_MACHINE_REGISTERS, state.registers,
               sizeof state.registers);
        c->zero_flags[t] = state.zero != 0;
        c->carry_flags[t] = state.carry != 0;
    }

    for (uint32_t i = 0; i < c->info.nr_atomic_bits; i++)
        (void)dpu_machine_get_atomic(machine, i, &c->atomic_register[i]);
}

void dpulib_context_get_running(struct dpu_context_t *c, const struct dpu_machine *machine)
{
    uint64_t bits = dpu_machine_get_run_bits(machine);
    c->nr_of_running_threads = 0;
    for (uint32_t t = 0; t < c->info.nr_threads; t++)
        c->scheduling[t] = (bits >> t & 1) != 0 ? c->nr_of_running_threads++ : DPU_NOT_SCHEDULED;
}

void dpulib_context_get_fault(struct dpu_context_t *c, const struct dpu_machine *machine)
{
    struct dpu_run_result result;
    dpu_machine_get_result(machine, &result);
    const dpu_thread_t thread = (dpu_thread_t)result.fault_thread;
    c->dma_fault = result.fault == DPU_FAULT_DMA;
    c->mem_fault = result.fault == DPU_FAULT_MEMORY;

    /* There is no flag for a word that is no instruction. */
    c->bkp_fault = result.fault != DPU_FAULT_NONE && !c->dma_fault && !c->mem_fault;
    c->bkp_fault_thread_index = c->bkp_fault ? thread : 0;
    c->dma_fault_thread_index = c->dma_fault ? thread : 0;
    c->mem_fault_thread_index = c->mem_fault ? thread : 0;
    c->bkp_fault_id = c->bkp_fault ? result.breakpoint : 0;
}

/* --- into the machine --- */

void dpulib_context_set_registers(const struct dpu_context_t *c, struct dpu_machine *machine)
{
    struct dpu_thread_state state;
    memset(&state, 0, sizeof state);
    for (uint32_t t = 0; t < c->info.nr_threads; t++) {
        memcpy(state.registers, c->registers + (size_t)t * DPU_MACHINE_REGISTERS,
               sizeof state.registers);
        state.pc = c->pcs[t] % DPU_MACHINE_IRAM;
        state.zero = c->zero_flags[t];
        state.carry = c->carry_flags[t];
        (void)dpu_machine_set_thread(machine, t, &state);
    }

    for (uint32_t i = 0; i < c->info.nr_atomic_bits; i++)
        (void)dpu_machine_set_atomic(machine, i, c->atomic_register[i]);
}

dpu_error_t dpulib_context_set_fault(const struct dpu_context_t *c, struct dpu_machine *machine)
{
    enum dpu_fault_kind kind = DPU_FAULT_NONE;
    uint32_t thread = 0;
    if (c->bkp_fault) {
        kind = DPU_FAULT_BREAKPOINT;
        thread = c->bkp_fault_thread_index;
    } else if (c->dma_fault) {
        kind = DPU_FAULT_DMA;
        thread = c->dma_fault_thread_index;
    } else if (c->mem_fault) {
        kind = DPU_FAULT_MEMORY;
        thread = c->mem_fault_thread_index;
    }

    if (!dpu_machine_set_fault(machine, kind, thread, c->bkp_fault ? c->bkp_fault_id : 0))
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "the fault is said to be of tasklet %u",
                           thread);
    return DPU_OK;
}

/*
 * Positions of those that run are 0, 1, ... What does not run has DPU_NOT_SCHEDULED, or, in what
 * the vendor's library saved, may have 0 as well: of several at one position it is then the one
 * in fault, or the first.
 */
uint64_t dpulib_context_running(const struct dpu_context_t *c)
{
    uint64_t running = 0;
    for (uint32_t position = 0; position < c->nr_of_running_threads; position++) {
        uint64_t at = 0;
        for (uint32_t t = 0; t < c->info.nr_threads && t < DPU_MACHINE_THREADS_ROOM; t++)
            if (c->scheduling[t] == position)
                at |= UINT64_C(1) << t;
        uint64_t faulted = (c->bkp_fault ? UINT64_C(1) << (c->bkp_fault_thread_index % 64) : 0) |
                           (c->dma_fault ? UINT64_C(1) << (c->dma_fault_thread_index % 64) : 0) |
                           (c->mem_fault ? UINT64_C(1) << (c->mem_fault_thread_index % 64) : 0);
        if ((at & faulted) != 0)
            at &= faulted;
        running |= at & -at;
    }

    return running;
}

dpu_error_t dpulib_context_go_on(struct dpu_t *dpu, uint64_t running)
{
    if (running == 0)
        return DPU_OK;
    struct dpu_set_t set = {.kind = DPU_SET_DPU, .dpu = dpu};
    const dpu_thread_t first = (dpu_thread_t)__builtin_ctzll(running);
    return dpulib_launch(set, (struct dpulib_boot){.resume = true, .thread = first}, true);
}
