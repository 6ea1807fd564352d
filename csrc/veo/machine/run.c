/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c: runs code by threaded dispatch. Each decoded instruction has the address of the code that
 * does it: of its own if it is in the .inc files, and otherwise of what calls its executor. A page
 * ends with an entry that looks the next page up.
 */
#include "code.h"
#include "executors.h"
#include "floating.h"
#include "fuse.h"
#include "run.h"
#include "scalar.h"

/* Labels that are not those of an operation. */
enum special {
    LABEL_UNDECODED,
    LABEL_PAGE_END,
    LABEL_TRANSLATED,
    LABEL_CALL,    /* the executor does it */
    LABEL_CHECKED, /* the same, and looks for floating-point exceptions */
    LABEL_FUSED,   /* and the sequences of enum ve_fusion */
    /* Branches whose target is in the same page, by condition. */
    LABEL_NEAR_L = LABEL_FUSED + VE_FUSED_ADDRESS + 1,
    LABEL_NEAR_W = LABEL_NEAR_L + 8,
    LABEL_NEAR_ALWAYS = LABEL_NEAR_W + 8,
    LABEL_COUNT
};

static bool is_near(uint64_t address, int32_t displacement)
{
    uint64_t target = address + (uint64_t)(int64_t)displacement;
    return displacement % 8 == 0 && target >> VE_PAGE_SHIFT == address >> VE_PAGE_SHIFT;
}

/* Label of a branch whose target is near: an index of the special labels, or else LABEL_CALL. */
static enum special near_label(const struct ve_instruction *instruction, uint64_t address)
{
    bool is_long = instruction->operation == VE_OP_BR_L;
    bool is_relative = is_long || instruction->operation == VE_OP_BR_W ||
                       instruction->operation == VE_OP_BR_D || instruction->operation == VE_OP_BR_S;
    if (!is_relative || !is_near(address, instruction->displacement))
        return LABEL_CALL;
    if (instruction->condition == VE_ALWAYS)
        return LABEL_NEAR_ALWAYS;
    if (instruction->condition >= 7)
        return LABEL_CALL;
    if (is_long)
        return (enum special)(LABEL_NEAR_L + instruction->condition);
    return instruction->operation == VE_OP_BR_W
               ? (enum special)(LABEL_NEAR_W + instruction->condition)
               : LABEL_CALL;
}

/* The code of an instruction: the first of a near branch's, its operation's, the call's. */
static const void *label_of(const struct ve_core *core, struct ve_decoded *decoded,
                            const void *const *special, const void *const *inlined)
{
    const struct ve_instruction *instruction = &decoded->instruction;
    enum ve_causes causes = ve_operation_info(instruction->operation)->causes;
    bool is_float = causes >= VE_CAUSES_FLOAT && causes <= VE_CAUSES_APPROXIMATE;
    if (is_float && ve_floating_is_checked(core))
        return special[LABEL_CHECKED];

    enum ve_fusion fusion = ve_fuse(decoded);
    if (fusion != VE_FUSED_NONE)
        return special[LABEL_FUSED + (int)fusion];

    enum special near = near_label(instruction, decoded->address);
    if (near != LABEL_CALL)
        return special[near];
    return inlined[instruction->operation] != NULL ? inlined[instruction->operation]
                                                   : special[LABEL_CALL];
}

#define GO goto * decoded->label
#define NEXT \
    do { \
        decoded++; \
        GO; \
    } while (0)
/* After a taken branch, to DECODED. */
#define GO_SAMPLED \
    do { \
        if (RARELY(--code->countdown == 0)) \
            goto sample; \
        GO; \
    } while (0)
#define STOP goto stopped
#define HERE core->current = decoded
#define INSTRUCTION_OF_DECODED const struct ve_instruction *const i = &decoded->instruction

/* Runs from core->ic to VE_HALT_ADDRESS. */
static bool run(struct ve_core *core)
{
    static const void *const special[LABEL_COUNT] = {
        [LABEL_UNDECODED] = &&undecoded,
        [LABEL_PAGE_END] = &&page_end,
        [LABEL_TRANSLATED] = &&translated,
        [LABEL_CALL] = &&call,
        [LABEL_CHECKED] = &&checked,
        [LABEL_FUSED + (int)VE_FUSED_ENTER] = &&fused_enter,
        [LABEL_FUSED + (int)VE_FUSED_LEAVE] = &&fused_leave,
        [LABEL_FUSED + (int)VE_FUSED_ADDRESS] = &&fused_address,
        [LABEL_NEAR_L + VE_NEVER] = &&op_NOP,
        [LABEL_NEAR_L + VE_GREATER] = &&near_l_gt,
        [LABEL_NEAR_L + VE_LESS] = &&near_l_lt,
        [LABEL_NEAR_L + (VE_GREATER | VE_LESS)] = &&near_l_ne,
        [LABEL_NEAR_L + VE_EQUAL] = &&near_l_eq,
        [LABEL_NEAR_L + (VE_EQUAL | VE_GREATER)] = &&near_l_ge,
        [LABEL_NEAR_L + (VE_EQUAL | VE_LESS)] = &&near_l_le,
        [LABEL_NEAR_W + VE_NEVER] = &&op_NOP,
        [LABEL_NEAR_W + VE_GREATER] = &&near_w_gt,
        [LABEL_NEAR_W + VE_LESS] = &&near_w_lt,
        [LABEL_NEAR_W + (VE_GREATER | VE_LESS)] = &&near_w_ne,
        [LABEL_NEAR_W + VE_EQUAL] = &&near_w_eq,
        [LABEL_NEAR_W + (VE_EQUAL | VE_GREATER)] = &&near_w_ge,
        [LABEL_NEAR_W + (VE_EQUAL | VE_LESS)] = &&near_w_le,
        [LABEL_NEAR_ALWAYS] = &&near_always,
    };
#define SCALAR(operation, ...) [VE_OP_##operation] = &&op_##operation,
#define MEMORY SCALAR
    static const void *const inlined[VE_OPERATION_COUNT] = {
#include "veo/machine/scalar_float.inc"
#include "veo/machine/scalar_integer.inc"
#include "veo/machine/scalar_memory.inc"
        SCALAR(BR_L) SCALAR(BR_W) SCALAR(BR_D) SCALAR(BR_S) SCALAR(B_L) SCALAR(B_W) SCALAR(B_D)
            SCALAR(B_S) SCALAR(BSIC) SCALAR(SIC)};
#undef SCALAR

    if (core->code == NULL)
        core->code = ve_code_create(special[LABEL_UNDECODED], special[LABEL_PAGE_END],
                                    special[LABEL_TRANSLATED]);
    struct ve_code *code = core->code;
    if (code == NULL) {
        ve_raise(core, VE_FAULT_MEMORY, 0);
        return false;
    }
    struct ve_decoded *decoded;
    struct ve_decoded unknown; /* where a jump comes from that is not remembered */
    struct ve_decoded *jumped = &unknown;
    uint64_t target = core->ic;

    goto jump;

    /* --- where to go on: in this page, where it was before, in another page, in a gate, or back
     * --- */
jump_from_here:
    if ((target ^ decoded->address) >> VE_PAGE_SHIFT == 0 && target % 8 == 0) {
        decoded += (int64_t)(target - decoded->address) / 8;
        GO_SAMPLED;
    }
jump_far:
    jumped = decoded;
    if (jumped->target != NULL && jumped->target->address == target && ve_code_is_current(code)) {
        decoded = jumped->target;
        GO_SAMPLED;
    }
jump:
    if (RARELY(target >= core->gate_low && target < core->gate_high)) {
        if (!ve_enter_gate(core, target))
            return false;
        target = core->s[VE_S_LINK];
        jumped = &unknown;
        goto jump;
    }
    if (RARELY(target == VE_HALT_ADDRESS)) {
        core->ic = target;
        return true;
    }
    decoded = ve_code_find(code, target);
    if (RARELY(decoded == NULL || target % 8 != 0)) {
        core->current = NULL;
        core->fetched = target;
        ve_raise(core, decoded == NULL ? VE_FAULT_MEMORY : VE_FAULT_ILSA, target);
        return false;
    }
    jumped->target = decoded;
    GO_SAMPLED;

page_end:
    target = decoded->address;
    goto jump_far;

sample:
    code->countdown = ve_code_period;
    if (ve_code_sample != NULL && !ve_exceptions_are_enabled(core))
        ve_code_sample(code, decoded);
    GO;

translated:
    {
        const struct ve_unit *unit = ve_code_unit(decoded);
        target = unit->run(core, unit->list, decoded->address);
    }
    if (RARELY(core->stopped)) {
        core->ic = ve_core_address(core);
        return false;
    }
    jumped = &unknown;
    goto jump;

undecoded:
    if (!ve_fetch(core, decoded->address, &decoded->instruction))
        STOP;
    decoded->label = label_of(core, decoded, special, inlined);
    GO;

    /* --- what is not inline --- */
call:
    HERE;
    ve_executors[decoded->instruction.operation](core, &decoded->instruction);
    if (RARELY(core->stopped))
        STOP;
    NEXT;

checked:
    HERE;
    ve_execute_checked(core, &decoded->instruction);
    if (RARELY(core->stopped))
        STOP;
    NEXT;

    /* --- branches --- */
#define NEAR(label, condition) \
    label: \
    { \
        INSTRUCTION_OF_DECODED; \
        if (condition) { \
            decoded += i->displacement / 8; \
            GO_SAMPLED; \
        } \
    } \
    NEXT;
    NEAR(near_l_gt, (int64_t)Y > (int64_t)Z)
    NEAR(near_l_lt, (int64_t)Y < (int64_t)Z)
    NEAR(near_l_ne, Y != Z)
    NEAR(near_l_eq, Y == Z)
    NEAR(near_l_ge, (int64_t)Y >= (int64_t)Z)
    NEAR(near_l_le, (int64_t)Y <= (int64_t)Z)
    NEAR(near_w_gt, (int32_t)Y > (int32_t)Z)
    NEAR(near_w_lt, (int32_t)Y < (int32_t)Z)
    NEAR(near_w_ne, (int32_t)Y != (int32_t)Z)
    NEAR(near_w_eq, (int32_t)Y == (int32_t)Z)
    NEAR(near_w_ge, (int32_t)Y >= (int32_t)Z)
    NEAR(near_w_le, (int32_t)Y <= (int32_t)Z)
near_always:
    decoded += decoded->instruction.displacement / 8;
    GO_SAMPLED;

#define BRANCH(operation, condition, to, note) \
    op_##operation: \
    { \
        INSTRUCTION_OF_DECODED; \
        if (condition) { \
            target = to; \
            note; \
            goto jump_from_here; \
        } \
    } \
    NEXT;
#define RELATIVE decoded->address + (uint64_t)(int64_t)i->displacement
#define ABSOLUTE ve_base_address(core, i)
#define IS_NEAR (void)0
#define NOTE \
    if (RARELY(i->z_source != VE_S_LINK)) \
    ve_code_note_jump(code, target)
    BRANCH(BR_L, ve_holds_integer(i->condition, (int64_t)Y, (int64_t)Z), RELATIVE, IS_NEAR)
    BRANCH(BR_W, ve_holds_integer(i->condition, (int32_t)Y, (int32_t)Z), RELATIVE, IS_NEAR)
    BRANCH(BR_D, ve_holds_float(i->condition, DY, DZ), RELATIVE, IS_NEAR)
    BRANCH(BR_S, ve_holds_float(i->condition, (double)FY, (double)FZ), RELATIVE, IS_NEAR)
    BRANCH(B_L, ve_holds_integer(i->condition, (int64_t)Y, 0), ABSOLUTE, NOTE)
    BRANCH(B_W, ve_holds_integer(i->condition, (int32_t)Y, 0), ABSOLUTE, NOTE)
    BRANCH(B_D, ve_holds_float(i->condition, DY, 0), ABSOLUTE, NOTE)
    BRANCH(B_S, ve_holds_float(i->condition, (double)FY, 0), ABSOLUTE, NOTE)

op_BSIC:
    {
        INSTRUCTION_OF_DECODED;
        target = ve_address(core, i);
        X = decoded->address + 8;
        goto jump_from_here;
    }
op_SIC:
    {
        INSTRUCTION_OF_DECODED;
        X = decoded->address + 8;
        NEXT;
    }

    /* --- sequences: what an instruction of them raises is its own --- */
fused_enter:
    HERE;
    ve_write64(core->s[VE_S_STACK], core->s[VE_S_FRAME]);
    core->current = decoded + 1;
    ve_write64(core->s[VE_S_STACK] + 8, core->s[VE_S_LINK]);
    core->s[VE_S_FRAME] = core->s[VE_S_STACK];
    core->s[VE_S_STACK] += (uint64_t)(int64_t)decoded[3].instruction.displacement;
    decoded += (int64_t)core->s[VE_S_STACK] >= (int64_t)core->s[VE_S_LIMIT] ? VE_ENTER_REACH : 5;
    GO;
fused_leave:
    core->s[VE_S_STACK] = core->s[VE_S_FRAME];
    core->current = decoded + 1;
    core->s[VE_S_LINK] = ve_read64(core->s[VE_S_STACK] + 8);
    core->current = decoded + 2;
    core->s[VE_S_FRAME] = ve_read64(core->s[VE_S_STACK]);
    target = core->s[VE_S_LINK];
    decoded += 3;
    goto jump_from_here;
fused_address:
    {
        uint64_t low = (uint32_t)decoded[0].instruction.displacement;
        core->s[decoded[0].instruction.x] = low;
        decoded += 2;
        core->s[decoded->instruction.x] =
            low + ((uint64_t)(uint32_t)decoded->instruction.displacement << 32);
    }
    NEXT;

    /* --- what is inline --- */
#define SCALAR(operation, ...) \
    op_##operation: \
    { \
        INSTRUCTION_OF_DECODED; \
        (void)i; \
        __VA_ARGS__ \
    } \
    NEXT;
#include "veo/machine/scalar_float.inc"
#include "veo/machine/scalar_integer.inc"
#undef MEMORY
#define MEMORY(operation, ...) SCALAR(operation, HERE; __VA_ARGS__)
#include "veo/machine/scalar_memory.inc"

stopped:
    core->ic = decoded->address;
    return false;
}

bool ve_core_run(struct ve_core *core, uint64_t entry)
{
    struct ve_core *outer = ve_core_current;
    uint64_t link = core->s[VE_S_LINK];
    const struct ve_decoded *current = core->current;
    uint64_t fetched = core->fetched;
    struct ve_host_floating host;

    ve_core_current = core;
    core->ic = entry;
    core->s[VE_S_LINK] = VE_HALT_ADDRESS;
    core->stopped = false;
    core->fault = (struct ve_fault){0};
    ve_floating_enter(core, &host);
    core->depth++;
    bool halted = core->observe != NULL ? ve_run_stepping(core) : run(core);
    core->depth--;
    ve_floating_leave(core, &host);

    core->s[VE_S_LINK] = link;
    core->current = current;
    core->fetched = fetched;
    ve_core_current = outer;
    return halted;
}
