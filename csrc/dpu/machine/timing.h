/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: the clock of a machine, and its performance counter. */
#ifndef OFFCHIP_DPU_TIMING_H
#define OFFCHIP_DPU_TIMING_H

#include "machine_state.h"

/* The cycle at which the instruction that is being executed was issued. */
uint64_t dpu_now(const struct dpu_machine *machine);
/* The cycle at which CYCLES of transfer, which stands still during refreshes, are over. */
uint64_t dpu_after_transfer(const struct dpu_machine *machine, uint64_t start, uint64_t cycles);
/* Cycles that a round of so many tasklets lasts. */
uint64_t dpu_round_cycles(const struct dpu_machine *machine, uint32_t runnable);
/* The performance counter as it is now. */
uint64_t dpu_counter_value(const struct dpu_machine *machine);
/* Starts it from a value in a mode: 1 cycles, 2 instructions, 3 off. */
void dpu_counter_start(struct dpu_machine *machine, uint64_t value, uint32_t mode);

#endif
