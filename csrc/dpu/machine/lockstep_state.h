/* SPDX-License-Identifier: BSD-3-Clause */
/* lockstep_state.h: machines in lockstep, for lockstep.c, lanes.c and in_step.c. */
#ifndef OFFCHIP_DPU_LOCKSTEP_STATE_H
#define OFFCHIP_DPU_LOCKSTEP_STATE_H

#include "lockstep.h"
#include "window.h"

struct dpu_lane {
    struct dpu_machine *m;
    uint64_t stop, limit;
    struct dpu_window window;
};

struct dpu_lockstep {
    const struct dpu_lanes_code *code;
    uint8_t *wram; /* of all lanes */
    uint32_t count;
    uint32_t here; /* lanes that have not left, a bit each */
    bool is_cut;   /* one was interrupted: all stop soon */
    /* All that are here are in step, and have one window: that of LEADER. */
    struct dpu_in_step in_step;
    uint32_t leader;
    struct dpu_lane lanes[DPU_LOCKSTEP_MOST];
};

/* A bit for each of the first COUNT lanes. */
static inline uint32_t dpu_lanes_of(uint32_t count)
{
    return (1u << count) - 1;
}

/* --- lanes.c: their WRAM --- */

/* Puts WRAM of all machines into the lanes. False if out of memory. */
bool dpu_lanes_make(struct dpu_lockstep *s);
/* Brings WRAM of the machines of SET to where the lanes are. */
void dpu_lanes_copy_out(const struct dpu_lockstep *s, uint32_t set);
/* Gives it back, but to those that have left by a fault, and have their own again. */
void dpu_lanes_give_back(struct dpu_lockstep *s);

/* --- in_step.c: one window for all --- */

extern const struct dpu_in_step dpu_in_step_events;

/* True if all that are here have the same state but for registers and memories. */
bool dpu_in_step_begins(struct dpu_lockstep *s);
/* Copies the state of the leader to the others, as it is between windows. */
void dpu_in_step_share(struct dpu_lockstep *s);
/* The same in the middle of a window, which each has from now on. */
void dpu_in_step_part(struct dpu_lockstep *s);

#endif
