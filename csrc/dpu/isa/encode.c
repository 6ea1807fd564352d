/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.c: from a form and operands to the word. */
#include "forms.h"

static bool value_fits(const struct dpu_form *form, const struct dpu_field *field, int64_t value)
{
    int64_t limit = INT64_C(1) << field->width;
    switch ((enum dpu_field_check)field->check) {
    case DPU_ANY:
        return value >= (field->operand == DPU_OPERAND_IMM || field->is_signed ? -limit / 2 : 0) &&
               value < limit;
    case DPU_GENERAL: return value >= 0 && value < DPU_MACHINE_REGISTERS;
    case DPU_EVEN: return value >= 0 && value < DPU_MACHINE_REGISTERS && value % 2 == 0;
    case DPU_NOT_ZERO: return value >= 0 && value < limit && value != DPU_MACHINE_REGISTERS;
    case DPU_CODE: return value >= 0 && value < limit && (form->codes >> value & 1) != 0;
    }

    return false;
}

bool dpu_encode(const struct dpu_instruction *instruction, uint64_t *word)
{
    *word = 0;
    if (instruction->form >= DPU_FORM_COUNT)
        return false;

    const struct dpu_form *f = &dpu_forms[instruction->form];
    if (instruction->operand_count != f->operand_count)
        return false;

    uint64_t result = f->canon;
    for (uint32_t i = 0; i < f->operand_count; i++) {
        const struct dpu_field *field = &dpu_fields[f->fields[i]];
        if (field->operand == DPU_OPERAND_ZERO)
            continue;
        if (!value_fits(f, field, instruction->values[i]))
            return false;
        uint64_t value = (uint64_t)instruction->values[i];
        for (const struct dpu_segment *s = field->segments;
             s < field->segments + DPU_SEGMENTS_MAX && s->width != 0; s++) {
            uint64_t mask = ((UINT64_C(1) << s->width) - 1) << s->bit;
            result = (result & ~mask) | ((value >> s->value_bit << s->bit) & mask);
        }
    }

    /* Some forms take only a part of the registers. */
    if (!dpu_form_matches(instruction->form, result))
        return false;

    *word = result;
    return true;
}
