/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.h: the ways to run the tasklets of a machine, behind one structure of functions.
 *
 * Engines differ in speed and in the order of accesses to WRAM that nothing orders. A program
 * without races has the same registers, flags, pcs, memories, cycles and counts in all of them.
 */
#ifndef OFFCHIP_DPU_ENGINE_H
#define OFFCHIP_DPU_ENGINE_H

#include "machine_state.h"

struct dpu_engine {
    const char *name;
    /*
     * Runs tasklets of m->eligible, of which at least one runs, for some time: up to m->rounds ==
     * STOP, m->cycles >= LIMIT, a fault, or for less, but often enough for interrupts to be
     * noticed. Afterwards all tasklets have executed what turns would have executed by then.
     */
    void (*advance)(struct dpu_machine *m, uint64_t stop, uint64_t limit);
};

/* The engine for the next run: that of the options, or turns where it cannot run the program or the
 * run is a step; but machines that are observed have their own. */
const struct dpu_engine *dpu_choose_engine(const struct dpu_machine *machine, bool steps);

/* --- run.c: parts of a run, for what advances several machines at once --- */

/* Joins the program of a machine, if it has to. False if out of memory. */
bool dpu_run_is_ready(struct dpu_machine *machine);
/* The cycle at which a run ends. */
uint64_t dpu_run_limit(const struct dpu_machine *machine);
/* The rounds of a slice of dpu_machine_slice(). */
uint64_t dpu_run_rounds_of_slice(const struct dpu_machine *machine, uint64_t rounds);
/* False if a run that is to end before round STOP and at cycle LIMIT would end now. */
bool dpu_run_goes_on(struct dpu_machine *machine, uint64_t stop, uint64_t limit);
/* Ends a run up to STOP that has executed some instructions: does what is left of it. */
void dpu_run_rest(struct dpu_machine *machine, uint64_t stop, uint64_t executed,
                  struct dpu_run_result *result);

#endif
