/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/checks/facts.h"

#include "dpu/isa/chip.h"
#include "dpu/isa/forms.h"

#include <string.h>

#define STACK_POINTER 22

static uint8_t source(int64_t number)
{
    return number < DPU_MACHINE_REGISTERS ? (uint8_t)number : NO_REGISTER;
}

/* The registers that are constants: zero, one, lneg, mneg. */
static uint32_t constant_of(int64_t number)
{
    static const uint32_t constants[] = {0, 1, UINT32_MAX, 0x80000000};
    int64_t index = number - DPU_MACHINE_REGISTERS;
    return index >= 0 && index < 4 ? constants[index] : 0;
}

/* True if its jump or its result is open until its operands are known. */
static bool is_open(const struct dpu_form *form, uint32_t code)
{
    enum dpu_condition condition =
        dpu_condition_of((enum dpu_condition_class)form->condition_class, code);
    return condition != DPU_IF_FALSE && condition != DPU_IF_TRUE;
}

static void add_operand(struct fact *fact, const struct dpu_form *form, uint32_t operand,
                        int64_t value)
{
    switch ((enum dpu_operand)operand) {
    case DPU_OPERAND_RC:
    case DPU_OPERAND_DC: fact->result = (uint8_t)value; break;
    case DPU_OPERAND_RA:
        fact->a = source(value);
        fact->constant_a = constant_of(value);
        break;
    case DPU_OPERAND_DB:
        fact->b_pair = 1;
        fact->b = source(value);
        break;
    case DPU_OPERAND_RB: fact->b = source(value); break;
    case DPU_OPERAND_IMM:
    case DPU_OPERAND_IMMDMA:
        fact->has_immediate = true;
        fact->immediate = (uint32_t)value;
        break;
    case DPU_OPERAND_OFF: fact->immediate = (uint32_t)value; break;
    case DPU_OPERAND_SHIFT: fact->shift = (uint32_t)value; break;
    case DPU_OPERAND_CC:
        fact->decides = is_open(form, (uint32_t)value);
        fact->condition = (uint8_t)dpu_condition_of((enum dpu_condition_class)form->condition_class,
                                                    (uint32_t)value);
        break;
    case DPU_OPERAND_ENDIAN: fact->big_endian = value != 0; break;
    case DPU_OPERAND_PC:
    case DPU_OPERAND_ZERO:
    case DPU_OPERAND_COUNT: break;
    }
}

void fact_of(uint64_t word, struct fact *fact)
{
    struct dpu_instruction instruction;
    *fact = (struct fact){.a = NO_REGISTER, .b = NO_REGISTER, .result = NO_REGISTER};
    if (!dpu_decode(word, &instruction))
        return;

    const struct dpu_form *form = &dpu_forms[instruction.form];
    bool has_target = false;
    fact->known = true;
    fact->operation = form->operation;
    for (uint32_t i = 0; i < instruction.operand_count; i++) {
        uint32_t operand = dpu_fields[form->fields[i]].operand;
        add_operand(fact, form, operand, instruction.values[i]);
        has_target = has_target || operand == DPU_OPERAND_PC;
    }

    fact->decides = fact->decides && has_target;
    fact->sets_carry = form->flags == DPU_FLAGS_ZC;
    fact->pair = form->destination == DPU_DEST_R32 ? 0 : form->destination;
    if (form->destination == DPU_DEST_NONE || form->destination == DPU_DEST_DISCARD)
        fact->result = NO_REGISTER;
    fact->moves_stack = fact->result == STACK_POINTER;
    if (form->operation == DPU_OP_CALL)
        fact->flow = fact->result != NO_REGISTER ? FLOW_CALL
                     : fact->a != NO_REGISTER    ? FLOW_JUMP_BY_REGISTER
                                                 : FLOW_OTHER;
}
