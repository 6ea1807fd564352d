/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.c: from a word in IRAM to the operation that the interpreters execute. */
#include "prepare.h"

#include "program.h"

#include <string.h>

#define NO_ALU 0xFF

static const struct {
    uint8_t kind, source, tail, condition;
} alu_codes[DPU_CODE_COUNT] = {
#define BASIC(name) [DPU_CODE_##name] = {NO_ALU, 0, 0, 0},
#define ALU(operation, source, tail, condition) \
    [DPU_CODE_##operation##_##source##_##tail##_##condition] = { \
        DPU_OP_##operation, DPU_SOURCE_##source, DPU_TAIL_##tail, DPU_IF_##condition},
#include "dpu/isa/codes.def"
#undef BASIC
#undef ALU
};

static enum dpu_code choose_alu(const struct dpu_operation *op)
{
    if (op->checked || op->destination > DPU_DEST_R32)
        return DPU_CODE_ALU_ANY;
    for (uint32_t code = 0; code < DPU_CODE_COUNT; code++)
        if (alu_codes[code].kind == op->kind && alu_codes[code].source == op->source &&
            alu_codes[code].tail == op->tail && alu_codes[code].condition == op->condition)
            return (enum dpu_code)code;
    return DPU_CODE_ALU_ANY;
}

static enum dpu_code choose_load(const struct dpu_operation *op, enum dpu_code code)
{
    bool usual =
        !op->big && !op->checked && (op->destination == DPU_DEST_R32 || op->kind == DPU_OP_LD);
    return usual ? code : DPU_CODE_MEMORY_ANY;
}

static enum dpu_code choose_store(const struct dpu_operation *op, enum dpu_code reg,
                                  enum dpu_code imm)
{
    if (op->big || op->checked)
        return DPU_CODE_MEMORY_ANY;
    return op->source == DPU_SOURCE_IMM ? imm : reg;
}

static enum dpu_code choose_code(const struct dpu_operation *op)
{
    switch ((enum dpu_operation_kind)op->kind) {
    case DPU_OP_NOP:
    case DPU_OP_TELL: return DPU_CODE_NOP;
    case DPU_OP_CALL: return op->source == DPU_SOURCE_IMM ? DPU_CODE_CALL_IMM : DPU_CODE_CALL_REG;
    case DPU_OP_MUL_STEP: return DPU_CODE_MUL_STEP;
    case DPU_OP_DIV_STEP: return DPU_CODE_DIV_STEP;
    case DPU_OP_MOVD: return DPU_CODE_MOVD;
    case DPU_OP_ACQUIRE: return DPU_CODE_ACQUIRE;
    case DPU_OP_RELEASE: return DPU_CODE_RELEASE;
    case DPU_OP_LBS: return choose_load(op, DPU_CODE_LBS);
    case DPU_OP_LBU: return choose_load(op, DPU_CODE_LBU);
    case DPU_OP_LHS: return choose_load(op, DPU_CODE_LHS);
    case DPU_OP_LHU: return choose_load(op, DPU_CODE_LHU);
    case DPU_OP_LW: return choose_load(op, DPU_CODE_LW);
    case DPU_OP_LD: return choose_load(op, DPU_CODE_LD);
    case DPU_OP_SB: return choose_store(op, DPU_CODE_SB_REG, DPU_CODE_SB_IMM);
    case DPU_OP_SH: return choose_store(op, DPU_CODE_SH_REG, DPU_CODE_SH_IMM);
    case DPU_OP_SW: return choose_store(op, DPU_CODE_SW_REG, DPU_CODE_SW_IMM);
    case DPU_OP_SD: return choose_store(op, DPU_CODE_SD_REG, DPU_CODE_MEMORY_ANY);
    case DPU_OP_SB_ID:
    case DPU_OP_SH_ID:
    case DPU_OP_SW_ID:
    case DPU_OP_SD_ID: return DPU_CODE_MEMORY_ANY;
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_CLR_RUN:
    case DPU_OP_READ_RUN:
    case DPU_OP_STOP:
    case DPU_OP_FAULT:
    case DPU_OP_LDMA:
    case DPU_OP_LDMAI:
    case DPU_OP_SDMA:
    case DPU_OP_TIME:
    case DPU_OP_TIME_CFG:
    case DPU_OP_SWAPD: return DPU_CODE_THREAD_ANY;
    default: return choose_alu(op);
    }
}

/* The shift-and-add instructions, whose shift is not their second operand. */
static bool has_own_shift(enum dpu_operation_kind kind)
{
    return kind == DPU_OP_LSL_ADD || kind == DPU_OP_LSL_SUB || kind == DPU_OP_LSR_ADD ||
           kind == DPU_OP_ROL_ADD || kind == DPU_OP_MUL_STEP || kind == DPU_OP_DIV_STEP;
}

static void put_operand(struct dpu_operation *op, const struct dpu_form *form,
                        enum dpu_operand operand, int64_t value)
{
    bool store = form->operation == DPU_OP_SB || form->operation == DPU_OP_SH ||
                 form->operation == DPU_OP_SW || form->operation == DPU_OP_SD ||
                 form->operation == DPU_OP_SB_ID || form->operation == DPU_OP_SH_ID ||
                 form->operation == DPU_OP_SW_ID || form->operation == DPU_OP_SD_ID;
    switch (operand) {
    case DPU_OPERAND_ENDIAN: op->big = (value & 1) != 0; break;
    case DPU_OPERAND_RC: op->c = (uint8_t)value; break;
    case DPU_OPERAND_DC: op->c = (uint8_t)(value & 0x1E); break;
    case DPU_OPERAND_RA: op->a = (uint8_t)value; break;
    case DPU_OPERAND_RB: op->b = (uint8_t)value; break;
    case DPU_OPERAND_DB: op->b = (uint8_t)(value & 0x1E); break;
    case DPU_OPERAND_IMM:
        op->source = DPU_SOURCE_IMM;
        if (store)
            op->target = (uint16_t)value;
        else
            op->imm = (uint32_t)value;
        break;
    case DPU_OPERAND_OFF:
        op->imm = (uint32_t)value;
        if (form->operation == DPU_OP_CALL)
            op->source = DPU_SOURCE_IMM;
        break;
    case DPU_OPERAND_IMMDMA: op->imm = (uint32_t)value; break;
    case DPU_OPERAND_SHIFT:
        op->shift = (uint8_t)value;
        if (!has_own_shift((enum dpu_operation_kind)form->operation)) {
            op->imm = (uint32_t)value;
            op->source = DPU_SOURCE_IMM;
        }
        break;
    case DPU_OPERAND_CC:
        op->condition = (uint8_t)dpu_condition_of((enum dpu_condition_class)form->condition_class,
                                                  (uint32_t)value);
        if (form->condition_class != DPU_CLASS_FALSE)
            op->tail = DPU_TAIL_SET;
        break;
    case DPU_OPERAND_PC:
        op->target = (uint16_t)(value & (DPU_MACHINE_IRAM - 1));
        op->tail = DPU_TAIL_JUMP;
        break;
    case DPU_OPERAND_ZERO:
    case DPU_OPERAND_COUNT: break;
    }
}

void dpu_prepare_word(uint64_t word, uint32_t switches, struct dpu_operation *op)
{
    struct dpu_instruction instruction;
    struct dpu_operation new = {.c = DPU_SINK};
    if (!dpu_decode(word, &instruction)) {
        bool faults = (switches & DPU_SWITCH_UNDECODABLE_FAULTS) != 0;
        new.code = faults ? DPU_CODE_UNDECODABLE : DPU_CODE_NOP;
        *op = new;
        return;
    }

    const struct dpu_form *form = &dpu_forms[instruction.form];
    new.kind = form->operation;
    new.destination = form->destination;
    bool has_a = false, reversed = false;
    for (uint32_t i = 0; i < form->operand_count; i++) {
        enum dpu_operand operand = (enum dpu_operand)dpu_fields[form->fields[i]].operand;
        /* imm - ra: the operands come in the order in which they are subtracted. */
        if (operand == DPU_OPERAND_IMM && i == 1 && form->operand_count > 2)
            reversed = new.kind == DPU_OP_SUB || new.kind == DPU_OP_SUBC;
        has_a |= operand == DPU_OPERAND_RA;
        put_operand(&new, form, operand, instruction.values[i]);
    }

    if (reversed)
        new.kind = new.kind == DPU_OP_SUB ? DPU_OP_RSUB : DPU_OP_RSUBC;

    /* Forms with a long immediate have the register where others have the second. */
    if (!has_a && new.source == DPU_SOURCE_IMM)
        new.a = new.b;
    new.checked = strcmp(form->form, "ersi") == 0 || strncmp(form->form, "es", 2) == 0 ||
                  strncmp(form->form, "ss", 2) == 0;
    if (new.kind == DPU_OP_CLS && (switches & DPU_SWITCH_CLS_COUNTS_SIGN) != 0)
        new.shift = 1;
    if (new.condition == DPU_IF_FALSE && new.tail == DPU_TAIL_JUMP)
        new.tail = DPU_TAIL_PLAIN;
    new.code = choose_code(&new) & 0xFFFF;
    *op = new;
}

void dpu_prepare_operation(struct dpu_machine *m, uint32_t index)
{
    struct dpu_operation op;
    dpu_prepare_word(m->iram[index], m->options.switches, &op);
    dpu_program_publish(m->program, index, &op);
}
