/* SPDX-License-Identifier: BSD-3-Clause */
/* interpreters.h: interpreter.inc as it is compiled eight times, in run_rounds.c, run_single.c,
 * run_alone.c, run_lane.c, run_ahead.c, run_observed.c, run_observed_single.c and
 * run_observed_ahead.c. */
#ifndef OFFCHIP_DPU_INTERPRETERS_H
#define OFFCHIP_DPU_INTERPRETERS_H

#include "machine_state.h"

/*
 * Run the tasklets of m->order, several or one, for m->batch_rounds rounds, which they shorten when
 * a round has changed who runs, and return 0; or the slot + 1 that a fault happened in, with
 * m->batch_rounds set to the rounds that were complete.
 */
uint32_t dpu_run_rounds(struct dpu_machine *machine);
uint32_t dpu_run_single(struct dpu_machine *machine);
/* The same for tasklets that are observed: they count and call hooks (observe.h). */
uint32_t dpu_run_observed(struct dpu_machine *machine);
uint32_t dpu_run_observed_single(struct dpu_machine *machine);

/* A dpu_runner. BUDGET must not be 0. */
uint32_t dpu_run_alone(struct dpu_machine *machine, struct dpu_thread *t, uint32_t budget);
/* The same in lockstep. */
uint32_t dpu_run_lane(struct dpu_machine *machine, struct dpu_thread *t, uint32_t budget);

/* Runs the tasklet in m->ahead.slot for up to m->ahead.rounds, which it sets to those that it has
 * run; it stops before an instruction that other tasklets notice. Always 0. */
uint32_t dpu_run_ahead_one(struct dpu_machine *machine);
/* The same, with its jumps in m->observing.trail (observed.h). */
uint32_t dpu_run_observed_ahead(struct dpu_machine *machine);

#endif
