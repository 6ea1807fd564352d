/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot.h: the state of a machine at the beginning of a round, for going back to it.
 *
 * Tasklets that run alone may be ahead of one that faults. Then the run goes back to the last
 * snapshot and is repeated up to the fault. A snapshot is a copy of what WRAM has beside zeros, of
 * all state, and of the parts of MRAM that were written since. All is for the thread that runs the
 * machine.
 */
#ifndef OFFCHIP_DPU_SNAPSHOT_H
#define OFFCHIP_DPU_SNAPSHOT_H

#include "machine_state.h"

/* Takes one in place of the last. False if out of memory: then there is none. */
bool dpu_snapshot_take(struct dpu_machine *machine);
/* True if there is one that can be restored. */
bool dpu_snapshot_is_valid(const struct dpu_machine *machine);
/* True if so much of MRAM was written that a new one is better than a longer log. */
bool dpu_snapshot_is_full(const struct dpu_machine *machine);
/* Notes that BYTES of MRAM are about to be written, if there is a snapshot. */
void dpu_snapshot_keep(struct dpu_machine *machine, uint32_t address, uint32_t bytes);
/* Makes the machine what it was. The snapshot stays. */
void dpu_snapshot_restore(struct dpu_machine *machine);
/* From now on there is none, as after the end of a run. */
void dpu_snapshot_drop(struct dpu_machine *machine);
/* Frees its memory. */
void dpu_snapshot_free(struct dpu_machine *machine);

#endif
