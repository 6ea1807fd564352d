/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "dpu/machine/prepare.h"

#include <string.h>

void dpu_plan_decode(struct dpu_plan *plan, const uint64_t *iram, uint32_t switches)
{
    memset(plan, 0, sizeof *plan);
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        dpu_prepare_word(iram[pc], switches, &plan->operations[pc]);
}

static enum dpu_flow flow_of_condition(const struct dpu_operation *op)
{
    switch ((enum dpu_condition)op->condition) {
    case DPU_IF_FALSE: return DPU_FLOW_ON;
    case DPU_IF_TRUE: return DPU_FLOW_JUMP;
    default: return DPU_FLOW_BRANCH;
    }
}

static bool is_known_call(const struct dpu_operation *op)
{
    return op->code == DPU_CODE_CALL_IMM && op->a == DPU_MACHINE_REGISTERS;
}

enum dpu_flow dpu_flow_of(const struct dpu_operation *op)
{
    if (op->checked)
        return DPU_FLOW_LEAVE;

    switch ((enum dpu_code)op->code) {
    case DPU_CODE_NOP:
    case DPU_CODE_MEMORY_ANY:
    case DPU_CODE_LBS:
    case DPU_CODE_LBU:
    case DPU_CODE_LHS:
    case DPU_CODE_LHU:
    case DPU_CODE_LW:
    case DPU_CODE_LD:
    case DPU_CODE_SB_REG:
    case DPU_CODE_SH_REG:
    case DPU_CODE_SW_REG:
    case DPU_CODE_SD_REG:
    case DPU_CODE_SB_IMM:
    case DPU_CODE_SH_IMM:
    case DPU_CODE_SW_IMM: return DPU_FLOW_ON;
    case DPU_CODE_CALL_IMM:
    case DPU_CODE_CALL_REG: return is_known_call(op) ? DPU_FLOW_JUMP : DPU_FLOW_COMPUTED;
    case DPU_CODE_MUL_STEP:
    case DPU_CODE_DIV_STEP: return flow_of_condition(op);
    case DPU_CODE_MOVD: return op->condition == DPU_IF_TRUE ? DPU_FLOW_JUMP : DPU_FLOW_ON;
    case DPU_CODE_DECODE:
    case DPU_CODE_WRAP:
    case DPU_CODE_END_OF_ROUND:
    case DPU_CODE_UNDECODABLE:
    case DPU_CODE_ACQUIRE:
    case DPU_CODE_RELEASE: return DPU_FLOW_LEAVE;
    case DPU_CODE_THREAD_ANY:
        if (op->kind != DPU_OP_SWAPD)
            return DPU_FLOW_LEAVE;
        return op->condition == DPU_IF_TRUE ? DPU_FLOW_JUMP : DPU_FLOW_ON;
    default: return op->tail == DPU_TAIL_JUMP ? flow_of_condition(op) : DPU_FLOW_ON;
    }
}

uint32_t dpu_target_of(const struct dpu_operation *op)
{
    return (is_known_call(op) ? op->imm : op->target) & (DPU_MACHINE_IRAM - 1);
}

/* True if an event can be followed by its target, and not the next instruction. */
static bool event_jumps(const struct dpu_operation *op)
{
    return op->tail == DPU_TAIL_JUMP && op->condition != DPU_IF_FALSE;
}

static bool is_call(const struct dpu_operation *op)
{
    return (op->code == DPU_CODE_CALL_IMM || op->code == DPU_CODE_CALL_REG) && op->c != DPU_SINK;
}

void dpu_plan_want_reachable(struct dpu_plan *plan, uint32_t first)
{
    uint16_t todo[DPU_MACHINE_IRAM];
    uint32_t count = 0;
#define REACH(pc) \
    do { \
        uint32_t reached = (pc); \
        if (!plan->wanted[reached]) { \
            plan->wanted[reached] = true; \
            todo[count++] = (uint16_t)reached; \
        } \
    } while (0)

    REACH(first);
    while (count > 0) {
        uint32_t pc = todo[--count];
        const struct dpu_operation *op = &plan->operations[pc];
        enum dpu_flow flow = dpu_flow_of(op);
        if (flow == DPU_FLOW_BRANCH || flow == DPU_FLOW_JUMP ||
            (flow == DPU_FLOW_LEAVE && event_jumps(op)))
            REACH(dpu_target_of(op));
        if ((flow != DPU_FLOW_JUMP && flow != DPU_FLOW_COMPUTED) || is_call(op))
            REACH(dpu_next_pc(pc));
    }
#undef REACH
}

static void mark_entry(struct dpu_plan *plan, uint32_t pc)
{
    if (plan->wanted[pc] && dpu_flow_of(&plan->operations[pc]) != DPU_FLOW_LEAVE)
        plan->entry[pc] = plan->head[pc] = true;
}

/* Where an instruction may go that is not the next one of its block. */
static void mark_targets(struct dpu_plan *plan, uint32_t pc)
{
    const struct dpu_operation *op = &plan->operations[pc];
    enum dpu_flow flow = dpu_flow_of(op);
    uint32_t target = dpu_target_of(op);
    if (flow == DPU_FLOW_BRANCH || flow == DPU_FLOW_JUMP) {
        plan->head[target] = plan->wanted[target];
        /* Some DPUs may go on while others jump. */
        if (flow == DPU_FLOW_BRANCH && plan->is_for_lanes)
            plan->head[dpu_next_pc(pc)] |= plan->wanted[dpu_next_pc(pc)];
        /* A tasklet whose budget ended in a loop comes back at the loop's head. */
        if (target <= pc)
            mark_entry(plan, target);
    }

    if (is_call(op)) {
        mark_entry(plan, dpu_next_pc(pc));
        if (flow == DPU_FLOW_JUMP)
            mark_entry(plan, target);
    }

    if (flow == DPU_FLOW_LEAVE) {
        mark_entry(plan, dpu_next_pc(pc));
        if (event_jumps(op))
            mark_entry(plan, target);
    }
}

/* True if the instruction before can only be followed by another one than this. */
static bool is_cut_off(const struct dpu_plan *plan, uint32_t pc)
{
    uint32_t before = (pc - 1) & (DPU_MACHINE_IRAM - 1);
    enum dpu_flow flow = dpu_flow_of(&plan->operations[before]);
    return !plan->wanted[before] || flow == DPU_FLOW_JUMP || flow == DPU_FLOW_COMPUTED;
}

/* Loads and stores that code for several DPUs leaves to the interpreter: few programs have them. */
static bool is_unusual(const struct dpu_operation *op)
{
    return op->code == DPU_CODE_MEMORY_ANY &&
           (op->big || (op->destination == DPU_DEST_NONE && op->source == DPU_SOURCE_IMM));
}

void dpu_plan_for_lanes(struct dpu_plan *plan)
{
    plan->is_for_lanes = true;
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        plan->operations[pc].checked |= is_unusual(&plan->operations[pc]);
}

void dpu_plan_find_blocks(struct dpu_plan *plan, const uint8_t *missed)
{
    memset(plan->head, 0, sizeof plan->head);
    memset(plan->entry, 0, sizeof plan->entry);
    mark_entry(plan, 0);
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        if (missed != NULL && missed[pc] != 0)
            mark_entry(plan, pc);
        if (plan->wanted[pc])
            mark_targets(plan, pc);
    }

    /* An instruction that no block leads to was reached by a computed jump. */
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        if (!plan->head[pc] && is_cut_off(plan, pc))
            mark_entry(plan, pc);

    /* A block that becomes too long goes on in another one. */
    uint32_t length = 0;
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        bool on = pc > 0 && plan->wanted[pc] && !is_cut_off(plan, pc);
        length = on && !plan->head[pc] ? length + 1 : 0;
        if (length == DPU_BLOCK_MOST && plan->wanted[pc]) {
            plan->head[pc] = true;
            length = 0;
        }
    }
}

uint32_t dpu_block_length(const struct dpu_plan *plan, uint32_t head)
{
    uint32_t length = 0;
    for (uint32_t pc = head;; pc = dpu_next_pc(pc)) {
        enum dpu_flow flow = dpu_flow_of(&plan->operations[pc]);
        if (!plan->wanted[pc] || flow == DPU_FLOW_LEAVE || (pc != head && plan->head[pc]))
            return length;
        length++;
        if (flow == DPU_FLOW_JUMP || flow == DPU_FLOW_COMPUTED || pc == DPU_MACHINE_IRAM - 1)
            return length;
    }
}

void dpu_plan_spans(const struct dpu_plan *plan, uint8_t spans[DPU_MACHINE_IRAM])
{
    uint8_t span = DPU_BLOCK_MOST;
    for (uint32_t pc = DPU_MACHINE_IRAM; pc-- > 0;) {
        span = span < DPU_BLOCK_MOST ? (uint8_t)(span + 1) : DPU_BLOCK_MOST;
        if (dpu_flow_of(&plan->operations[pc]) != DPU_FLOW_ON)
            span = 1;
        spans[pc] = plan->entry[pc] ? 0 : span;
        if (plan->entry[pc])
            span = 0;
    }
}
