/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.c: the state of a machine beside its memories, as a structure. */
#include "drift.h"
#include "machine_state.h"
#include "observed.h"
#include "remote.h"
#include "turns.h"

#include <stddef.h>
#include <string.h>

static const struct dpu_engine *const engines[] = {
    NULL, &dpu_engine_turns, [DPU_PACKED_DRIFT] = &dpu_engine_drift, &dpu_engine_observed};
#define ENGINES (sizeof engines / sizeof *engines)

size_t dpu_packed_size(uint32_t threads)
{
    return offsetof(struct dpu_packed, thread) + threads * sizeof(struct dpu_packed_thread);
}

void dpu_machine_pack(const struct dpu_machine *m, struct dpu_packed *packed)
{
    struct dpu_packed p = {
        .run_bits = m->run_bits,
        .cycles = m->cycles,
        .instructions = m->instructions,
        .rounds = m->rounds,
        .launch_cycles = m->launch_cycles,
        .launch_instructions = m->launch_instructions,
        .launch_rounds = m->launch_rounds,
        .refresh_interval = m->refresh_interval,
        .dma = m->dma,
        .launch_dma = m->launch_dma,
        .counter_value = m->counter.value,
        .counter_origin = m->counter.origin,
        .counter_mode = m->counter.mode,
        .dma_engine = m->dma_engine,
        .fault = m->fault.kind,
        .fault_thread = m->fault.thread,
        .breakpoint = m->fault.breakpoint,
        .fault_address = m->fault.address,
        .fault_detail = m->fault.detail,
        .fault_bytes = m->fault.bytes,
        .threads = m->thread_count,
    };
    memcpy(p.dma_free, m->dma_free, sizeof p.dma_free);
    memcpy(p.atomic, m->atomic, sizeof p.atomic);
    while (p.engine + 1 < ENGINES && engines[p.engine] != m->engine)
        p.engine++;

    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct dpu_thread *t = &m->threads[i];
        struct dpu_packed_thread *to = &p.thread[i];
        *to = (struct dpu_packed_thread){
            .ready = t->ready,
            .instructions = t->instructions,
            .zero = t->zero,
            .carry = t->carry,
            .pc = dpu_pc(m, t->op),
        };
        memcpy(to->registers, t->r, sizeof to->registers);
    }

    *packed = p;
}

/* Times and counts that nothing reaches, so that sums of them are numbers too. */
static bool are_reached(const struct dpu_packed *p)
{
    const uint64_t most = UINT64_C(1) << 56;
    bool all = p->cycles < most && p->instructions < most && p->rounds < most &&
               p->refresh_interval < most;
    for (uint32_t i = 0; i < DPU_DMA_ENGINES_MOST; i++)
        all = all && p->dma_free[i] < most;
    for (uint32_t i = 0; i < p->threads; i++)
        all = all && p->thread[i].ready < most && p->thread[i].instructions < most;
    return all;
}

static bool is_possible(const struct dpu_machine *m, const struct dpu_packed *p)
{
    if (p->threads != m->thread_count || p->engine >= ENGINES ||
        p->dma_engine >= DPU_DMA_ENGINES_MOST || p->counter_mode < 1 || p->counter_mode > 3 ||
        p->fault > DPU_FAULT_UNDECODABLE || p->fault_thread >= m->thread_count ||
        p->fault_detail > DPU_FAULT_DETAIL_MRAM_BOUNDS || p->launch_cycles > p->cycles ||
        p->launch_instructions > p->instructions || p->launch_rounds > p->rounds ||
        p->refresh_interval < p->launch_cycles || !are_reached(p))
        return false;

    for (uint32_t i = 0; i < DPU_MACHINE_ATOMIC_BITS; i++)
        if (p->atomic[i] > 1)
            return false;
    for (uint32_t i = 0; i < p->threads; i++)
        if (p->thread[i].pc >= DPU_MACHINE_IRAM || p->thread[i].carry > 1)
            return false;
    return true;
}

bool dpu_machine_unpack(struct dpu_machine *m, const struct dpu_packed *p)
{
    if (!is_possible(m, p))
        return false;

    dpu_machine_set_run_bits(m, p->run_bits);
    m->cycles = p->cycles;
    m->instructions = p->instructions;
    m->rounds = p->rounds;
    m->launch_cycles = p->launch_cycles;
    m->launch_instructions = p->launch_instructions;
    m->launch_rounds = p->launch_rounds;
    m->refresh_interval = p->refresh_interval;
    m->dma = p->dma;
    m->launch_dma = p->launch_dma;
    m->counter = (struct dpu_counter){p->counter_value, p->counter_origin, p->counter_mode};
    m->dma_engine = p->dma_engine;
    m->fault = (struct dpu_fault){p->fault,         p->fault_thread, p->breakpoint,
                                  p->fault_address, p->fault_detail, p->fault_bytes};
    m->engine = engines[p->engine];
    memcpy(m->dma_free, p->dma_free, sizeof m->dma_free);
    memcpy(m->atomic, p->atomic, sizeof m->atomic);

    for (uint32_t i = 0; i < p->threads; i++) {
        const struct dpu_packed_thread *from = &p->thread[i];
        struct dpu_thread *t = &m->threads[i];
        memcpy(t->r, from->registers, sizeof from->registers);
        t->ready = from->ready;
        t->instructions = from->instructions;
        t->zero = from->zero;
        t->carry = from->carry;
        t->op = &m->operations[from->pc];
    }

    return true;
}
