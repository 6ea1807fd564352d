/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.c: the tables, expanded, and questions about them. */
#include "forms.h"

#include <string.h>

#define SEG(bit, width, value_bit) {bit, width, value_bit},
#define FIELD(name, operand, check, width, is_signed, segments) \
    [DPU_FIELD_##name] = {DPU_OPERAND_##operand, DPU_##check, width, is_signed, {segments}},
const struct dpu_field dpu_fields[] = {
#include "fields.def"
};
#undef FIELD
#undef SEG

#define OPERANDS0() 0, 0, {0}
#define OPERANDS1(a) \
    1, 1, \
    { \
        DPU_FIELD_##a \
    }
#define OPERANDS2(a, b) \
    2, 2, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b \
    }
#define OPERANDS3(a, b, c) \
    3, 3, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b, DPU_FIELD_##c \
    }
#define OPERANDS4(a, b, c, d) \
    4, 4, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b, DPU_FIELD_##c, DPU_FIELD_##d \
    }
#define OPERANDS5(a, b, c, d, e) \
    5, 5, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b, DPU_FIELD_##c, DPU_FIELD_##d, DPU_FIELD_##e \
    }
#define OPERANDS6(a, b, c, d, e, f) \
    6, 6, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b, DPU_FIELD_##c, DPU_FIELD_##d, DPU_FIELD_##e, DPU_FIELD_##f \
    }
/* The same with a last field that is only checked. */
#define CHECKED1(a, x) \
    1, 2, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##x \
    }
#define CHECKED3(a, b, c, x) \
    3, 4, \
    { \
        DPU_FIELD_##a, DPU_FIELD_##b, DPU_FIELD_##c, DPU_FIELD_##x \
    }
#define FORM(operation, mnemonic, form, mask, match, canon, dest, flags, class, codes, known, ...) \
    {mnemonic, \
     form, \
     UINT64_C(mask), \
     UINT64_C(match), \
     UINT64_C(canon), \
     UINT64_C(codes), \
     DPU_OP_##operation, \
     DPU_DEST_##dest, \
     DPU_FLAGS_##flags, \
     DPU_CLASS_##class, \
     known, \
     __VA_ARGS__},
const struct dpu_form dpu_forms[DPU_FORM_COUNT] = {
#include "instructions.def"
};
#undef FORM

#define FORM(...) +1
_Static_assert(0
#include "instructions.def"
                   == DPU_FORM_COUNT,
               "instructions.def does not have DPU_FORM_COUNT forms");
#undef FORM

static const char *const operand_names[DPU_OPERAND_COUNT] = {
    [DPU_OPERAND_ENDIAN] = "endian", [DPU_OPERAND_RC] = "rc",   [DPU_OPERAND_DC] = "dc",
    [DPU_OPERAND_RA] = "ra",         [DPU_OPERAND_RB] = "rb",   [DPU_OPERAND_DB] = "db",
    [DPU_OPERAND_IMM] = "imm",       [DPU_OPERAND_OFF] = "off", [DPU_OPERAND_SHIFT] = "shift",
    [DPU_OPERAND_IMMDMA] = "immDma", [DPU_OPERAND_CC] = "cc",   [DPU_OPERAND_PC] = "pc",
    [DPU_OPERAND_ZERO] = "zero",
};

static const char *const class_names[] = {
#define CLASS(name, text) text,
#include "conditions.def"
#undef CLASS
};

static const char *const condition_names[] = {
#define CONDITION(name, text) text,
#include "conditions.def"
#undef CONDITION
};

static const struct {
    uint8_t condition_class, condition, code;
} class_codes[] = {
#define CODE(class, condition, code) {DPU_CLASS_##class, DPU_IF_##condition, code},
#include "conditions.def"
#undef CODE
};
#define CODE_COUNT (sizeof class_codes / sizeof class_codes[0])

const char *dpu_operand_name(enum dpu_operand operand)
{
    return (uint32_t)operand < DPU_OPERAND_COUNT ? operand_names[operand] : NULL;
}

bool dpu_form_info(uint32_t form, struct dpu_form_info *info)
{
    memset(info, 0, sizeof *info);
    if (form >= DPU_FORM_COUNT)
        return false;

    const struct dpu_form *f = &dpu_forms[form];
    info->mnemonic = f->mnemonic;
    info->form = f->form;
    info->condition_class = class_names[f->condition_class];
    info->mask = f->mask;
    info->match = f->match;
    info->canon = f->canon;
    info->destination = f->destination;
    info->flags = f->flags;
    info->documented = f->documented;
    info->operand_count = f->operand_count;
    for (uint32_t i = 0; i < f->operand_count; i++) {
        const struct dpu_field *field = &dpu_fields[f->fields[i]];
        info->operands[i] = field->operand;
        info->widths[i] = field->width;
        info->is_signed[i] = field->is_signed;
    }

    return true;
}

uint32_t dpu_form_find(const char *mnemonic, const char *form)
{
    for (uint32_t i = 0; i < DPU_FORM_COUNT; i++)
        if (strcmp(dpu_forms[i].mnemonic, mnemonic) == 0 && strcmp(dpu_forms[i].form, form) == 0)
            return i;
    return DPU_FORM_NONE;
}

enum dpu_condition dpu_condition_of(enum dpu_condition_class condition_class, uint32_t code)
{
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (class_codes[i].condition_class == condition_class && class_codes[i].code == code)
            return (enum dpu_condition)class_codes[i].condition;
    return DPU_IF_FALSE;
}

const char *dpu_condition_name(uint32_t form, uint32_t code)
{
    if (form >= DPU_FORM_COUNT)
        return NULL;

    for (size_t i = 0; i < CODE_COUNT; i++) {
        const char *name = condition_names[class_codes[i].condition];
        uint32_t first;
        if (class_codes[i].condition_class == dpu_forms[form].condition_class &&
            class_codes[i].code == code)
            return dpu_condition_code(form, name, &first) && first == code ? name : NULL;
    }

    return NULL;
}

bool dpu_condition_code(uint32_t form, const char *name, uint32_t *code)
{
    *code = 0;
    if (form >= DPU_FORM_COUNT)
        return false;

    for (size_t i = 0; i < CODE_COUNT; i++)
        if (class_codes[i].condition_class == dpu_forms[form].condition_class &&
            strcmp(condition_names[class_codes[i].condition], name) == 0) {
            *code = class_codes[i].code;
            return true;
        }
    return false;
}
