/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead.h: running tasklets one after the other for some rounds where their order does not matter;
 * see ahead.c. */
#ifndef OFFCHIP_DPU_AHEAD_H
#define OFFCHIP_DPU_AHEAD_H

#include "machine_state.h"

/* The most rounds that are returned. */
#define DPU_AHEAD_MOST 1024

/* An interpreter for the tasklet in m->ahead.slot: dpu_run_ahead_one(), or dpu_run_observed_ahead()
 * (interpreters.h). */
typedef uint32_t (*dpu_ahead_runner)(struct dpu_machine *machine);

/*
 * Runs the tasklets of m->order, at least two, for up to ROUNDS rounds, and returns the rounds that
 * are complete. 0 if they have to run in turns, for at most m->ahead.pause rounds.
 */
uint64_t dpu_run_ahead(struct dpu_machine *machine, dpu_ahead_runner run, uint64_t rounds);

#endif
