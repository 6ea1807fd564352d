/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h: rounds in which the same tasklets take part, for engines that execute in turns. */
#ifndef OFFCHIP_DPU_BATCH_H
#define OFFCHIP_DPU_BATCH_H

#include "machine_state.h"

/* Puts those that can issue into m->order. Returns the cycle at which one more can, or
 * UINT64_MAX. */
uint64_t dpu_batch_choose(struct dpu_machine *machine);
/* How many rounds they may run, at least one: to STOP and LIMIT, up to the cycle READY, and as few
 * as an interruption can wait for. */
uint64_t dpu_batch_rounds(const struct dpu_machine *machine, uint64_t stop, uint64_t limit,
                          uint64_t ready);
/* They have run so many, and of one more, in which a fault happened, the first FAULTED slots. */
void dpu_batch_account(struct dpu_machine *machine, uint64_t rounds, uint32_t faulted);

#endif
