/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_run.h: running a DPU to breakpoints and watchpoints, for a debugger that has its launch.
 *
 * For the operation that runs the launch. Instructions execute in rounds, so that several tasklets
 * may stand at breakpoints when a run ends.
 */
#ifndef OFFCHIP_DPU_LIB_DEBUG_RUN_H
#define OFFCHIP_DPU_LIB_DEBUG_RUN_H

#include "dpu.h"
#include "dpu/machine/observe.h"

#include <stdbool.h>
#include <stdint.h>

#define DPULIB_WATCHES 16

enum dpulib_watch_kind { DPULIB_WATCH_WRITE = 1, DPULIB_WATCH_READ = 2 };

/* A watched part of WRAM or MRAM, by its address in programs. */
struct dpulib_watch {
    uint32_t address, size;
    uint32_t kind; /* enum dpulib_watch_kind, or-ed */
};

enum dpulib_stop {
    DPULIB_STOP_DONE = 0,
    DPULIB_STOP_FAULT = 1,
    DPULIB_STOP_ROUNDS = 2, /* the asked number of rounds is over */
    DPULIB_STOP_BREAKPOINT = 3,
    DPULIB_STOP_WATCHPOINT = 4,
    DPULIB_STOP_LEFT = 5,  /* the tasklet is not in its range any more */
    DPULIB_STOP_LIMIT = 6, /* cycle limit, interrupted, or out of memory */
};

struct dpulib_debug {
    uint64_t breakpoints[DPU_MACHINE_IRAM / 64]; /* one bit per instruction */
    struct dpulib_watch watches[DPULIB_WATCHES];
    uint32_t watch_count;

    /* Of the last run: what ended it; the tasklet, and of a watchpoint the instruction that
     * accessed it and its number. */
    enum dpulib_stop stop;
    enum dpu_run_status status;
    uint32_t thread, pc, watch;

    struct dpu_observer observer; /* for debug_run.c */
    bool hit;
};

/* Instructions of one tasklet, [FIRST, END), or none: END is 0. As long as it sleeps it does not
 * leave them. */
struct dpulib_debug_range {
    uint32_t thread, first, end;
};

/* At most ROUNDS rounds, and at least one if ROUNDS is not 0. */
void dpulib_debug_run(struct dpu_t *dpu, struct dpulib_debug *debug, uint64_t rounds,
                      struct dpulib_debug_range range);
/* One instruction of a tasklet that runs. False, and nothing done, if it does not. */
bool dpulib_debug_step(struct dpu_t *dpu, struct dpulib_debug *debug, uint32_t thread);

#endif
