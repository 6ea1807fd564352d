/* SPDX-License-Identifier: BSD-3-Clause */
/* disassemble.c: from a word to text. */
#include "forms.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at;
    size_t size, length; /* length of everything, also of what did not fit */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t used = text->length < text->size ? text->length : text->size;
    int n = vsnprintf(text->at + used, text->size - used, format, arguments);
    va_end(arguments);
    if (n > 0)
        text->length += (size_t)n;
}

static void put_register(struct text *text, int64_t number)
{
    static const char *const constants[] = {"zero", "one", "lneg", "mneg",
                                            "id",   "id2", "id4",  "id8"};
    if (number < DPU_MACHINE_REGISTERS)
        put(text, "r%" PRId64, number);
    else
        put(text, "%s", constants[number - DPU_MACHINE_REGISTERS]);
}

static void put_operand(struct text *text, const struct dpu_instruction *instruction, uint32_t i)
{
    const struct dpu_form *form = &dpu_forms[instruction->form];
    int64_t value = instruction->values[i];
    switch ((enum dpu_operand)dpu_fields[form->fields[i]].operand) {
    case DPU_OPERAND_ENDIAN: put(text, "!big"); break;
    case DPU_OPERAND_RC:
    case DPU_OPERAND_RA:
    case DPU_OPERAND_RB: put_register(text, value); break;
    case DPU_OPERAND_DC:
    case DPU_OPERAND_DB: put(text, "d%" PRId64, value & ~INT64_C(1)); break;
    case DPU_OPERAND_IMM:
    case DPU_OPERAND_OFF:
    case DPU_OPERAND_SHIFT:
    case DPU_OPERAND_IMMDMA: put(text, "%" PRId64, value); break;
    case DPU_OPERAND_CC: {
        const char *name = dpu_condition_name(instruction->form, (uint32_t)value);
        if (name != NULL)
            put(text, "%s", name);
        else
            put(text, "?%" PRId64, value);
        break;
    }

    case DPU_OPERAND_PC: put(text, "0x%" PRIx64, (uint64_t)value); break;
    case DPU_OPERAND_ZERO: put(text, "zero"); break;
    case DPU_OPERAND_COUNT: break;
    }
}

/* Forms whose memory access is checked against a limit look like the others but for the s. */
static bool is_checked(const struct dpu_form *form)
{
    return strcmp(form->form, "ersi") == 0 || strncmp(form->form, "es", 2) == 0 ||
           strncmp(form->form, "ss", 2) == 0;
}

size_t dpu_disassemble(uint64_t word, char *text, size_t size, bool *known)
{
    struct dpu_instruction instruction;
    struct text out = {text, size, 0};
    bool decoded = dpu_decode(word, &instruction);
    if (known != NULL)
        *known = decoded;
    if (!decoded) {
        put(&out, ".word 0x%012" PRIx64, word & DPU_WORD_MASK);
        return out.length;
    }

    const struct dpu_form *form = &dpu_forms[instruction.form];
    put(&out, "%s%s", form->mnemonic, is_checked(form) ? "s" : "");
    const char *separator = " ";
    for (uint32_t i = 0; i < instruction.operand_count; i++) {
        bool endian = dpu_fields[form->fields[i]].operand == DPU_OPERAND_ENDIAN;
        if (endian && instruction.values[i] == 0)
            continue;
        put(&out, "%s", separator);
        put_operand(&out, &instruction, i);
        separator = endian ? " " : ", ";
    }

    return out.length;
}
