/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h: what of a program is translated, in which blocks, and where they can be entered.
 *
 * Translated code is cut into blocks: straight code of at most DPU_BLOCK_MOST instructions, entered
 * at its head only and left by any of its jumps. A block is executed if the budget is enough for
 * all of it; so the budget is looked at once. A tasklet may come from outside (from the
 * interpreter, by a computed jump) only at heads that are entries.
 */
#ifndef OFFCHIP_DPU_PLAN_H
#define OFFCHIP_DPU_PLAN_H

#include "dpu/machine/machine_state.h"

#define DPU_BLOCK_MOST 48

/* Where an instruction goes. */
enum dpu_flow {
    DPU_FLOW_ON,       /* to the next one */
    DPU_FLOW_BRANCH,   /* to its target or the next one */
    DPU_FLOW_JUMP,     /* to its target */
    DPU_FLOW_COMPUTED, /* to what a register says */
    DPU_FLOW_LEAVE,    /* it is an event or unusual: the interpreter has it */
};

struct dpu_plan {
    struct dpu_operation operations[DPU_MACHINE_IRAM]; /* all decoded */
    bool wanted[DPU_MACHINE_IRAM];                     /* to be translated */
    bool is_for_lanes;                                 /* blocks end at branches */
    bool head[DPU_MACHINE_IRAM], entry[DPU_MACHINE_IRAM];
};

/* Decodes a program. Nothing is wanted yet. */
void dpu_plan_decode(struct dpu_plan *plan, const uint64_t *iram, uint32_t switches);
/* Wants what can be reached from FIRST without computed jumps. */
void dpu_plan_want_reachable(struct dpu_plan *plan, uint32_t first);
/* After the decoding: the code will be for several DPUs at once. */
void dpu_plan_for_lanes(struct dpu_plan *plan);
/*
 * Finds the heads of blocks and the entries. MISSED says where tasklets came from outside, and
 * found no entry; NULL if that is not known.
 */
void dpu_plan_find_blocks(struct dpu_plan *plan, const uint8_t *missed);

enum dpu_flow dpu_flow_of(const struct dpu_operation *op);
/* Where a BRANCH or JUMP goes. */
uint32_t dpu_target_of(const struct dpu_operation *op);
/* Instructions of the block with this head. */
uint32_t dpu_block_length(const struct dpu_plan *plan, uint32_t head);

/*
 * For each pc: 0 if translated code can be entered there; else how many instructions come before
 * the next place that can be, up to the next jump, whose target may be one; at most DPU_BLOCK_MOST.
 */
void dpu_plan_spans(const struct dpu_plan *plan, uint8_t spans[DPU_MACHINE_IRAM]);

static inline uint32_t dpu_next_pc(uint32_t pc)
{
    return (pc + 1) & (DPU_MACHINE_IRAM - 1);
}

#endif
