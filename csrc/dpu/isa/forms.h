/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.h: the table of instructions as C sees it. Private to csrc/dpu. */
#ifndef OFFCHIP_DPU_FORMS_H
#define OFFCHIP_DPU_FORMS_H

#include "dpu/isa/chip.h"
#include "instructions.h"

enum dpu_operation_kind {
#define OPERATION(name) DPU_OP_##name,
#include "operations.def"
#undef OPERATION
};

enum dpu_condition {
#define CONDITION(name, text) DPU_IF_##name,
#include "conditions.def"
#undef CONDITION
};

enum dpu_condition_class {
#define CLASS(name, text) DPU_CLASS_##name,
#include "conditions.def"
#undef CLASS
};

enum dpu_field_name {
#define FIELD(name, operand, check, width, is_signed, segments) DPU_FIELD_##name,
#include "fields.def"
#undef FIELD
};

enum dpu_field_check { DPU_ANY, DPU_GENERAL, DPU_EVEN, DPU_NOT_ZERO, DPU_CODE };

#define DPU_SEGMENTS_MAX 14

struct dpu_segment {
    uint8_t bit, width, value_bit;
};

struct dpu_field {
    uint8_t operand, check, width, is_signed;
    struct dpu_segment segments[DPU_SEGMENTS_MAX]; /* up to the first of width 0 */
};

struct dpu_form {
    const char *mnemonic, *form;
    uint64_t mask, match, canon, codes;
    uint8_t operation, destination, flags, condition_class;
    uint8_t documented, operand_count, field_count;
    uint8_t fields[DPU_OPERANDS_MAX];
};

extern const struct dpu_form dpu_forms[DPU_FORM_COUNT];
extern const struct dpu_field dpu_fields[];

/* Meaning of a code of the class; DPU_IF_FALSE if it has no name. */
enum dpu_condition dpu_condition_of(enum dpu_condition_class condition_class, uint32_t code);

#endif
