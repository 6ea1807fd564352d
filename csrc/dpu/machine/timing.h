/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: the clock of a machine, and its performance counter. */
#ifndef OFFCHIP_DPU_TIMING_H
#define OFFCHIP_DPU_TIMING_H

#include "machine_state.h"

/* Fills the two tables below, and what transfers need, from the options. */
void dpu_timing_set_up(struct dpu_machine *machine);

/* Cycles that a round of so many tasklets lasts. */
static inline uint64_t dpu_round_cycles(const struct dpu_machine *m, uint32_t runnable)
{
    return m->round_length[runnable];
}

/* Cycles in which so many instructions of a round are issued. */
static inline uint64_t dpu_issue_cycles(const struct dpu_machine *m, uint32_t count)
{
    return m->issue_length[count];
}

/* The cycle at which the instruction that is being executed was issued. */
static inline uint64_t dpu_now(const struct dpu_machine *m)
{
    return m->cycles + m->rounds_done * dpu_round_cycles(m, m->runnable) +
           dpu_issue_cycles(m, m->slot + 1) - 1;
}

/* The cycle at which CYCLES of transfer, which stands still during refreshes, are over. */
uint64_t dpu_after_transfer(struct dpu_machine *machine, uint64_t start, uint64_t cycles);
/* The performance counter as it is now. */
uint64_t dpu_counter_value(const struct dpu_machine *machine);
/* Starts it from a value in a mode: 1 cycles, 2 instructions, 3 off. */
void dpu_counter_start(struct dpu_machine *machine, uint64_t value, uint32_t mode);

#endif
