/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead.h: running tasklets one after the other for some rounds where their order does not matter;
 * see ahead.c. */
#ifndef OFFCHIP_DPU_AHEAD_H
#define OFFCHIP_DPU_AHEAD_H

#include "machine_state.h"

/*
 * Runs the tasklets of m->order, at least two, for up to ROUNDS rounds, and returns the rounds that
 * are complete. 0 if they have to run in turns, for at most m->ahead.pause rounds.
 */
uint64_t dpu_run_ahead(struct dpu_machine *machine, uint64_t rounds);

#endif
