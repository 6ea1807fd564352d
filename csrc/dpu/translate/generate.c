/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.c: writes the blocks of a program in C.
 *
 * An instruction is a statement made of the macros of generated_code.h; what it computes is in
 * execute_alu.h. Registers that no instruction of the program uses do not appear.
 */
#include "generate.h"

#include "dpu/machine/execute_alu.h"
#include "plan.h"
#include "prelude.h"

#include <inttypes.h>
#include <stdlib.h>

struct writer {
    FILE *out;
    const struct dpu_plan *plan;
    uint32_t switches;
    uint32_t used, written; /* registers, a bit each */
    uint32_t pc, undone;    /* of the block: an instruction, and how many there are from it on */
};

/* Room for the name of an operand. */
struct operand {
    char text[16];
};

static struct operand register_of(struct writer *w, uint32_t index)
{
    static const char *const constants[8] = {
        "0u", "1u", "0xFFFFFFFFu", "0x80000000u", "id", "(2 * id)", "(4 * id)", "(8 * id)",
    };
    struct operand operand;
    if (index >= DPU_MACHINE_REGISTERS) {
        snprintf(operand.text, sizeof operand.text, "%s", constants[index & 7]);
        return operand;
    }

    w->used |= 1u << index;
    snprintf(operand.text, sizeof operand.text, "r%u", index);
    return operand;
}

static struct operand second_of(struct writer *w, const struct dpu_operation *op)
{
    struct operand operand;
    if (op->source != DPU_SOURCE_IMM)
        return register_of(w, op->b);
    snprintf(operand.text, sizeof operand.text, "0x%" PRIx32 "u", op->imm);
    return operand;
}

/* r = VALUE; nothing for a result that is dropped. */
static void write_register(struct writer *w, uint32_t index, const char *value)
{
    if (index >= DPU_MACHINE_REGISTERS)
        return;
    w->used |= 1u << index;
    w->written |= 1u << index;
    fprintf(w->out, " SET(r%u, %s);", index, value);
}

static void write_result(struct writer *w, const struct dpu_operation *op, const char *value)
{
    char high[64];
    switch ((enum dpu_destination)op->destination) {
    case DPU_DEST_D64S:
        snprintf(high, sizeof high, "-(%s >> 31)", value);
        write_register(w, op->c, high);
        write_register(w, op->c + 1u, value);
        break;
    case DPU_DEST_D64U:
        write_register(w, op->c, "0");
        write_register(w, op->c + 1u, value);
        break;
    default: write_register(w, op->c, value); break;
    }
}

/* To a direct target: its block, or the interpreter. */
static void write_jump(struct writer *w, uint32_t target, uint32_t undone)
{
    const char *how = w->plan->head[target] ? "GO" : "LEAVE";
    fprintf(w->out, " %s(%u, %u);", how, target, undone);
}

static void write_branch(struct writer *w, const struct dpu_operation *op)
{
    switch (dpu_flow_of(op)) {
    case DPU_FLOW_BRANCH:
        fprintf(w->out, " BRANCH(%s, %u, %u, %u);",
                w->plan->head[dpu_target_of(op)] ? "GO" : "LEAVE", dpu_target_of(op), w->undone - 1,
                dpu_next_pc(w->pc));
        break;
    case DPU_FLOW_JUMP: write_jump(w, dpu_target_of(op), 0); break;
    default: break;
    }
}

static void write_alu(struct writer *w, const struct dpu_operation *op)
{
    enum dpu_operation_kind kind = (enum dpu_operation_kind)op->kind;
    struct operand first = register_of(w, op->a), second = second_of(w, op);
    fprintf(w->out, "COMPUTE(%s, %s, %s, %u);", dpu_operation_name(kind), first.text, second.text,
            op->shift);
    if (op->tail == DPU_TAIL_SET || dpu_flow_of(op) == DPU_FLOW_BRANCH)
        fprintf(w->out, " HOLDS(%s);", dpu_condition_word(op->condition));

    if (op->tail == DPU_TAIL_SET && op->destination == DPU_DEST_D64S)
        fputs(" const WORD set = ONE_IF(holds);", w->out);
    if (op->tail == DPU_TAIL_SET)
        write_result(w, op, op->destination == DPU_DEST_D64S ? "set" : "ONE_IF(holds)");
    else
        write_result(w, op, "alu.x");

    fputs(" SET(z, alu.zero);", w->out);
    if (dpu_alu_writes_carry(kind))
        fputs(" SET(carry, alu.carry);", w->out);
    write_branch(w, op);
}

/* As the interpreter's handlers of both have it: the half of the pair that is not computed stays.
 */
static void write_step(struct writer *w, const struct dpu_operation *op)
{
    bool multiplies = op->kind == DPU_OP_MUL_STEP;
    struct operand a = register_of(w, op->a), even = register_of(w, op->b);
    struct operand odd = register_of(w, op->b + 1u), kept = {"odd"};
    fprintf(w->out, "const WORD a = ALL(%s), even = ALL(%s), odd = ALL(%s), part = a << %u;",
            a.text, even.text, odd.text, op->shift);
    if (multiplies)
        fputs(" const WORD half = even >> 1; const TRUTH applies = (even & 1) != 0;", w->out);
    else
        fputs(" const TRUTH applies = odd >= part;", w->out);
    if (dpu_flow_of(op) == DPU_FLOW_BRANCH)
        fprintf(w->out, " const ALU alu = {%s}; const TRUTH holds = holds_%s(&alu, a, ALL(0), %s);",
                multiplies ? "half, half" : "ALL(0), ALL(0)", dpu_condition_word(op->condition),
                multiplies ? "z" : "ALL(1)");

    char sum[64];
    if ((w->switches & DPU_SWITCH_STEP_COPIES_PAIR) == 0 && op->c < DPU_SINK)
        kept = register_of(w, op->c + 1u);
    snprintf(sum, sizeof sum, "SELECT(applies, odd %s part, %s)", multiplies ? "+" : "-",
             kept.text);
    write_register(w, op->c + 1u, sum);
    write_register(w, op->c, multiplies ? "half" : "even << 1 | ONE_IF(applies)");
    if (multiplies)
        fputs(" SET(z, half);", w->out);
    write_branch(w, op);
}

static void write_pair_move(struct writer *w, const struct dpu_operation *op)
{
    bool swaps = op->kind == DPU_OP_SWAPD;
    struct operand even = register_of(w, op->b), odd = register_of(w, op->b + 1u);
    fprintf(w->out, "const WORD even = ALL(%s), odd = ALL(%s);", even.text, odd.text);
    write_register(w, op->c, swaps ? "odd" : "even");
    write_register(w, op->c + 1u, swaps ? "even" : "odd");
    write_branch(w, op);
}

static void write_call(struct writer *w, const struct dpu_operation *op, uint32_t pc)
{
    char back[16];
    snprintf(back, sizeof back, "%u", pc + 1);
    if (dpu_flow_of(op) == DPU_FLOW_JUMP) {
        write_register(w, op->c, back);
        write_jump(w, dpu_target_of(op), 0);
        return;
    }

    struct operand base = register_of(w, op->a), offset = second_of(w, op);
    fprintf(w->out, "TARGET(%s + %s, 0x%xu);", base.text, offset.text, DPU_MACHINE_IRAM - 1);
    write_register(w, op->c, back);
    fputs(" GO_THERE;", w->out);
}

struct access {
    uint32_t log2_size;
    const char *type; /* of loads, that extends as it is to be */
};

static struct access access_of(enum dpu_operation_kind kind)
{
    switch (kind) {
    case DPU_OP_LBS: return (struct access){0, "int8_t"};
    case DPU_OP_LBU:
    case DPU_OP_SB:
    case DPU_OP_SB_ID: return (struct access){0, "uint8_t"};
    case DPU_OP_LHS: return (struct access){1, "int16_t"};
    case DPU_OP_LHU:
    case DPU_OP_SH:
    case DPU_OP_SH_ID: return (struct access){1, "uint16_t"};
    case DPU_OP_LW:
    case DPU_OP_SW:
    case DPU_OP_SW_ID: return (struct access){2, "uint32_t"};
    default: return (struct access){3, "uint64_t"};
    }
}

static void write_load(struct writer *w, const struct dpu_operation *op, struct access access)
{
    fprintf(w->out, " LOAD(%s);", access.type);
    const char *value = op->big ? "BIG_" : "";
    const char *close = op->big ? "(value)" : "value";
    if (op->destination == DPU_DEST_D64) {
        fprintf(w->out, " const __auto_type pair = %s%s%s;", value, op->big ? access.type : "",
                close);
        write_register(w, op->c, "HIGH(pair)");
        write_register(w, op->c + 1u, "LOW(pair)");
        return;
    }

    fprintf(w->out, " const WORD word = (WORD)%s%s%s;", value, op->big ? access.type : "", close);
    if (op->destination >= DPU_DEST_R32)
        write_result(w, op, "word");
}

static void write_store(struct writer *w, const struct dpu_operation *op, struct access access)
{
    bool with_id = op->kind == DPU_OP_SB_ID || op->kind == DPU_OP_SH_ID ||
                   op->kind == DPU_OP_SW_ID || op->kind == DPU_OP_SD_ID;
    char value[80];
    if (op->source == DPU_SOURCE_IMM) {
        snprintf(value, sizeof value, "(%s)INT64_C(%d)%s", access.type, (int16_t)op->target,
                 with_id ? " | id" : "");
    } else {
        struct operand even = register_of(w, op->b);
        snprintf(value, sizeof value, "%s", even.text);
        if (op->kind == DPU_OP_SD) {
            struct operand odd = register_of(w, op->b + 1u);
            snprintf(value, sizeof value, "PAIR(%s, %s)", even.text, odd.text);
        }
    }

    if (op->big)
        fprintf(w->out, " STORE(%s, BIG_%s((%s)(%s)));", access.type, access.type, access.type,
                value);
    else
        fprintf(w->out, " STORE(%s, %s);", access.type, value);
}

static void write_memory(struct writer *w, const struct dpu_operation *op, uint32_t pc)
{
    struct access access = access_of((enum dpu_operation_kind)op->kind);
    struct operand base = register_of(w, op->a);
    fprintf(w->out, "%s(%s + 0x%" PRIx32 "u, %u, %u, %u);",
            op->a >= DPU_MACHINE_REGISTERS ? "ADDRESS_ONE" : "ADDRESS", base.text, op->imm,
            access.log2_size, pc, w->undone);
    if (op->destination == DPU_DEST_NONE)
        write_store(w, op, access);
    else
        write_load(w, op, access);
}

static bool is_memory(const struct dpu_operation *op)
{
    return op->code == DPU_CODE_MEMORY_ANY ||
           (op->code >= DPU_CODE_LBS && op->code <= DPU_CODE_SW_IMM);
}

bool dpu_is_alu(const struct dpu_operation *op)
{
    return op->code == DPU_CODE_ALU_ANY || op->code > DPU_CODE_SW_IMM;
}

static void write_instruction(struct writer *w, uint32_t pc)
{
    const struct dpu_operation *op = &w->plan->operations[pc];
    w->pc = pc;
    fprintf(w->out, "    /* %u */ { ", pc);
    if (is_memory(op))
        write_memory(w, op, pc);
    else if (dpu_is_alu(op))
        write_alu(w, op);
    else if (op->code == DPU_CODE_CALL_IMM || op->code == DPU_CODE_CALL_REG)
        write_call(w, op, pc);
    else if (op->code == DPU_CODE_MUL_STEP || op->code == DPU_CODE_DIV_STEP)
        write_step(w, op);
    else if (op->code == DPU_CODE_MOVD || op->code == DPU_CODE_THREAD_ANY)
        write_pair_move(w, op);
    fputs(" }\n", w->out);
}

static void write_block(struct writer *w, uint32_t head)
{
    uint32_t length = dpu_block_length(w->plan, head), pc = head;
    fprintf(w->out, "    %s(%u, %uu);\n", w->plan->entry[head] ? "ENTRY" : "BLOCK", head, length);
    enum dpu_flow flow = DPU_FLOW_ON;
    for (w->undone = length; w->undone > 0; w->undone--, pc = dpu_next_pc(pc)) {
        flow = dpu_flow_of(&w->plan->operations[pc]);
        write_instruction(w, pc);
    }

    if (flow == DPU_FLOW_JUMP || flow == DPU_FLOW_COMPUTED)
        return;
    bool leaves = length == 0 || !w->plan->head[pc];
    fprintf(w->out, "    %s(%u, 0);\n", leaves ? "LEAVE" : "GO", pc);
}

char *dpu_generate_blocks(const struct dpu_plan *plan, uint32_t switches, uint32_t *used,
                          uint32_t *written)
{
    char *blocks = NULL;
    size_t size = 0;
    struct writer w = {.out = open_memstream(&blocks, &size), .plan = plan, .switches = switches};
    if (w.out == NULL)
        return NULL;

    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        if (plan->head[pc])
            write_block(&w, pc);
    *used = w.used;
    *written = w.written;
    if (fclose(w.out) == 0)
        return blocks;

    free(blocks);
    return NULL;
}
