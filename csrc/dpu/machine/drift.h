/* SPDX-License-Identifier: BSD-3-Clause */
/* drift.h: the engine in which tasklets run alone between events; see drift.c. */
#ifndef OFFCHIP_DPU_DRIFT_H
#define OFFCHIP_DPU_DRIFT_H

#include "engine.h"
#include "window.h"

extern const struct dpu_engine dpu_engine_drift;

/* For engines that run the tasklets of a window themselves (window.h). */
enum dpu_drift_ending {
    DPU_DRIFT_ASKS,   /* tasklets are to be run */
    DPU_DRIFT_APART,  /* the next event is not the same for all that share the window */
    DPU_DRIFT_ENDED,  /* the window is over, or the fault is exact */
    DPU_DRIFT_AHEAD,  /* a fault, and others have gone on */
    DPU_DRIFT_MISSED, /* repeated, it did not come to the fault: the program has races */
};

/* Where the next window ends: it depends on nothing but the program, its launch and its limits. */
uint64_t dpu_drift_window_end(const struct dpu_machine *machine, uint64_t stop, uint64_t limit);
/* True if a snapshot must be taken before the next window. */
bool dpu_drift_needs_snapshot(const struct dpu_machine *machine);
/* True if a window may begin: there is a snapshot, or none is needed. */
bool dpu_drift_can(struct dpu_machine *machine);
/* Goes on with a window that has begun. IS_EXACT: a fault must not find others ahead. */
enum dpu_drift_ending dpu_drift_go_on(struct dpu_window *window, bool is_exact);
/* After DPU_DRIFT_AHEAD: goes back to the snapshot, and up to the fault again. */
void dpu_drift_repeat_to_fault(struct dpu_machine *machine, uint64_t stop, uint64_t limit);

#endif
