/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: the clock of a machine, and its performance counter. */
#ifndef OFFCHIP_DPU_TIMING_H
#define OFFCHIP_DPU_TIMING_H

#include "machine_state.h"

/* Cycles that a round of so many tasklets lasts. */
static inline uint64_t dpu_round_cycles(const struct dpu_machine *m, uint32_t runnable)
{
    if (m->options.accounting == DPU_ACCOUNTING_VENDOR)
        return runnable;
    return runnable > m->options.round_cycles ? runnable : m->options.round_cycles;
}

/* The cycle at which the instruction that is being executed was issued. */
static inline uint64_t dpu_now(const struct dpu_machine *m)
{
    return m->cycles + m->rounds_done * dpu_round_cycles(m, m->runnable) + m->slot;
}

/* The cycle at which CYCLES of transfer, which stands still during refreshes, are over. */
uint64_t dpu_after_transfer(struct dpu_machine *machine, uint64_t start, uint64_t cycles);
/* The performance counter as it is now. */
uint64_t dpu_counter_value(const struct dpu_machine *machine);
/* Starts it from a value in a mode: 1 cycles, 2 instructions, 3 off. */
void dpu_counter_start(struct dpu_machine *machine, uint64_t value, uint32_t mode);

#endif
