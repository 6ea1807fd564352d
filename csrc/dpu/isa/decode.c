/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.c: from a word to its form and operands. */
#include "forms.h"

#include <pthread.h>

/*
 * The forms that a word can have, by the ten bits that tell most. Made from the table on first
 * use and only read afterwards.
 */
#define KEY_COUNT 1024
static struct {
    pthread_once_t once;
    uint32_t start[KEY_COUNT + 1];
    uint16_t forms[KEY_COUNT * 48];
} lookup = {.once = PTHREAD_ONCE_INIT};

static uint32_t key_of(uint64_t word)
{
    return (uint32_t)(((word >> 42) & 63) << 4 | ((word >> 28) & 15));
}

static uint64_t word_of_key(uint32_t key)
{
    return (uint64_t)(key >> 4) << 42 | (uint64_t)(key & 15) << 28;
}

static void make_lookup(void)
{
    const uint64_t key_bits = word_of_key(KEY_COUNT - 1);
    uint32_t count = 0;
    for (uint32_t key = 0; key < KEY_COUNT; key++) {
        uint64_t word = word_of_key(key);
        lookup.start[key] = count;
        for (uint16_t form = 0; form < DPU_FORM_COUNT; form++) {
            const struct dpu_form *f = &dpu_forms[form];
            if (((word ^ f->match) & f->mask & key_bits) != 0)
                continue;
            if (count == sizeof lookup.forms / sizeof lookup.forms[0])
                __builtin_trap(); /* the table grew: make the array longer */
            lookup.forms[count++] = form;
        }
    }

    lookup.start[KEY_COUNT] = count;
}

/* The bits of a field, not extended. */
static uint32_t field_bits(const struct dpu_field *field, uint64_t word)
{
    uint64_t value = 0;
    for (const struct dpu_segment *s = field->segments;
         s < field->segments + DPU_SEGMENTS_MAX && s->width != 0; s++)
        value |= ((word >> s->bit) & ((UINT64_C(1) << s->width) - 1)) << s->value_bit;
    return (uint32_t)value;
}

static bool field_is_valid(const struct dpu_form *form, const struct dpu_field *field,
                           uint64_t word)
{
    switch ((enum dpu_field_check)field->check) {
    case DPU_ANY: return true;
    case DPU_GENERAL:
    case DPU_EVEN: return field_bits(field, word) < DPU_MACHINE_REGISTERS;
    case DPU_NOT_ZERO: return field_bits(field, word) != DPU_MACHINE_REGISTERS;
    case DPU_CODE: return (form->codes >> field_bits(field, word) & 1) != 0;
    }
    return false;
}

bool dpu_form_matches(uint32_t form, uint64_t word)
{
    if (form >= DPU_FORM_COUNT)
        return false;

    const struct dpu_form *f = &dpu_forms[form];
    if ((word & f->mask) != f->match)
        return false;

    for (uint32_t i = 0; i < f->field_count; i++)
        if (!field_is_valid(f, &dpu_fields[f->fields[i]], word))
            return false;
    return true;
}

/* Index of the form that a word has, DPU_FORM_NONE if it is no instruction. */
static uint32_t find_form(uint64_t word)
{
    pthread_once(&lookup.once, make_lookup);
    word &= DPU_WORD_MASK;
    uint32_t key = key_of(word);
    for (uint32_t i = lookup.start[key]; i < lookup.start[key + 1]; i++)
        if (dpu_form_matches(lookup.forms[i], word))
            return lookup.forms[i];
    return DPU_FORM_NONE;
}

bool dpu_decode(uint64_t word, struct dpu_instruction *instruction)
{
    *instruction = (struct dpu_instruction){.form = find_form(word)};
    if (instruction->form == DPU_FORM_NONE)
        return false;

    const struct dpu_form *f = &dpu_forms[instruction->form];
    instruction->operand_count = f->operand_count;
    for (uint32_t i = 0; i < f->operand_count; i++) {
        const struct dpu_field *field = &dpu_fields[f->fields[i]];
        int64_t value = field_bits(field, word);
        if (field->is_signed && (value >> (field->width - 1) & 1) != 0)
            value -= INT64_C(1) << field->width;
        instruction->values[i] = value;
    }

    return true;
}
