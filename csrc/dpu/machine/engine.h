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

#endif
