/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c: looking at and setting what tasklets, bits and counter are. */
#include "timing.h"

#include <string.h>

bool dpu_machine_get_thread(const struct dpu_machine *m, uint32_t thread,
                            struct dpu_thread_state *state)
{
    memset(state, 0, sizeof *state);
    if (thread >= m->thread_count)
        return false;

    const struct dpu_thread *t = &m->threads[thread];
    memcpy(state->registers, t->r, sizeof state->registers);
    state->pc = dpu_pc(m, t->op);
    state->zero = t->zero == 0;
    state->carry = t->carry != 0;
    state->running = (m->run_bits >> thread & 1) != 0;
    return true;
}

bool dpu_machine_set_thread(struct dpu_machine *m, uint32_t thread,
                            const struct dpu_thread_state *state)
{
    if (thread >= m->thread_count || state->pc >= DPU_MACHINE_IRAM)
        return false;

    struct dpu_thread *t = &m->threads[thread];
    memcpy(t->r, state->registers, sizeof state->registers);
    t->op = &m->operations[state->pc];
    t->zero = state->zero == 0;
    t->carry = state->carry != 0;
    t->ready = 0;
    uint64_t bit = UINT64_C(1) << thread;
    m->run_bits = state->running != 0 ? m->run_bits | bit : m->run_bits & ~bit;
    return true;
}

uint64_t dpu_machine_get_run_bits(const struct dpu_machine *m)
{
    return m->run_bits;
}

void dpu_machine_set_run_bits(struct dpu_machine *m, uint64_t bits)
{
    uint64_t notifications = ~((UINT64_C(1) << DPU_MACHINE_THREADS) - 1) & ~m->thread_bits;
    m->run_bits = bits & (m->thread_bits | notifications);
}

bool dpu_machine_get_atomic(const struct dpu_machine *m, uint32_t bit, bool *value)
{
    *value = bit < DPU_MACHINE_ATOMIC_BITS && m->atomic[bit] != 0;
    return bit < DPU_MACHINE_ATOMIC_BITS;
}

bool dpu_machine_set_atomic(struct dpu_machine *m, uint32_t bit, bool value)
{
    if (bit >= DPU_MACHINE_ATOMIC_BITS)
        return false;
    m->atomic[bit] = value;
    return true;
}

void dpu_machine_get_counter(const struct dpu_machine *m, struct dpu_counter_state *state)
{
    *state = (struct dpu_counter_state){dpu_counter_value(m), m->counter.mode, 0};
}

void dpu_machine_get_dma_totals(const struct dpu_machine *m, struct dpu_dma_totals *totals)
{
    *totals = m->dma;
}

bool dpu_machine_set_counter(struct dpu_machine *m, const struct dpu_counter_state *state)
{
    if (state->mode < 1 || state->mode > 3 || state->value >> 36 != 0)
        return false;
    dpu_counter_start(m, state->value, state->mode);
    return true;
}

void dpu_machine_clear_fault(struct dpu_machine *m)
{
    memset(&m->fault, 0, sizeof m->fault);
    m->run_bits &= ~m->thread_bits;
}

bool dpu_machine_set_fault(struct dpu_machine *m, enum dpu_fault_kind kind, uint32_t thread,
                           uint32_t breakpoint)
{
    if ((uint32_t)kind > DPU_FAULT_UNDECODABLE || thread >= m->thread_count)
        return false;

    m->fault.kind = (uint32_t)kind;
    m->fault.thread = thread;
    m->fault.breakpoint = breakpoint;
    m->fault.address = 0;
    m->fault.detail = DPU_FAULT_DETAIL_NONE;
    return true;
}

const char *dpu_fault_name(enum dpu_fault_kind kind)
{
    switch (kind) {
    case DPU_FAULT_NONE: return "none";
    case DPU_FAULT_BREAKPOINT: return "breakpoint";
    case DPU_FAULT_DMA: return "dma";
    case DPU_FAULT_MEMORY: return "memory";
    case DPU_FAULT_UNDECODABLE: return "undecodable instruction";
    }

    return "unknown";
}

const char *dpu_run_status_name(enum dpu_run_status status)
{
    switch (status) {
    case DPU_RUN_DONE: return "done";
    case DPU_RUN_FAULT: return "fault";
    case DPU_RUN_INTERRUPTED: return "interrupted";
    case DPU_RUN_CYCLE_LIMIT: return "cycle limit";
    case DPU_RUN_STEPPED: return "stepped";
    case DPU_RUN_NO_MEMORY: return "out of memory";
    }

    return "unknown";
}
