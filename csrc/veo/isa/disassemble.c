/* SPDX-License-Identifier: BSD-3-Clause */
/* disassemble.c: from a word to the text that clang's assembler reads. */
#include "fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct text {
    char *out;
    size_t size, length; /* of what was written, or would have been with more room */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    bool fits = text->length < text->size;
    int length = vsnprintf(fits ? text->out + text->length : NULL,
                           fits ? text->size - text->length : 0, format, list);
    va_end(list);
    text->length += (size_t)length;
}

/* --- names -------------------------------------------------------------------------------------
 */

/* A set of relations; integers have no NaN, and so only the first seven names. */
static const char *const conditions[16] = {
    "af",  "gt",    "lt",    "ne",    "eq",    "ge",    "le",    "num",
    "nan", "gtnan", "ltnan", "nenan", "eqnan", "genan", "lenan", "at",
};

static const char *const roundings[] = {
    [VE_ROUND_PSW] = "",     [VE_ROUND_ZERO] = ".rz",    [VE_ROUND_UP] = ".rp",
    [VE_ROUND_DOWN] = ".rm", [VE_ROUND_NEAREST] = ".rn", [VE_ROUND_AWAY] = ".ra",
};

/* Branches always taken are "b.l", without "at"; cmov and vfmk say it. */
static void put_mnemonic(struct text *text, const struct ve_instruction *instruction,
                         const struct ve_operation_info *row)
{
    for (const char *c = row->mnemonic; *c != '\0'; c++)
        if (*c == '~')
            put(text, "%s", roundings[instruction->rounding]);
        else if (*c != '?')
            put(text, "%c", *c);
        else if (row->format != VE_FORMAT_CF || instruction->condition != VE_ALWAYS)
            put(text, "%s", conditions[instruction->condition]);

    if (row->format == VE_FORMAT_CF && instruction->prediction >= 2)
        put(text, instruction->prediction == 2 ? ".nt" : ".t");
    /* cx says that a store may be overtaken; in loads it is a part of the operation. */
    if (row->format == VE_FORMAT_RVM && instruction->cx2 == 0)
        put(text, ".nc");
    if (row->format == VE_FORMAT_RVM && (instruction->opcode & 0x10) != 0 && instruction->cx != 0)
        put(text, ".ot");
}

/* --- operands ----------------------------------------------------------------------------------
 */

static int32_t signed7(uint8_t value)
{
    return value < 64 ? value : value - 128;
}

static void put_mask_immediate(struct text *text, uint8_t value)
{
    put(text, "(%u)%u", value & 63u, value < 64 ? 1u : 0u);
}

static void put_y(struct text *text, const struct ve_instruction *instruction, enum ve_place place)
{
    if (place == VE_PLACE_MISC)
        put(text, "%s", ve_miscellaneous_name(instruction->y));
    else if (instruction->cy != 0)
        put(text, "%%s%u", instruction->y);
    else if (place == VE_PLACE_MASK)
        put_mask_immediate(text, instruction->y);
    else if (place == VE_PLACE_UNSIGNED || place == VE_PLACE_IMMEDIATE)
        put(text, "%u", instruction->y);
    else
        put(text, "%d", signed7(instruction->y));
}

static void put_z(struct text *text, const struct ve_instruction *instruction, enum ve_place place)
{
    if (instruction->cz != 0)
        put(text, "%%s%u", instruction->z);
    else if (place == VE_PLACE_ZERO || place == VE_PLACE_IMMEDIATE)
        put(text, "%u", instruction->z);
    else
        put_mask_immediate(text, instruction->z);
}

static void put_vector(struct text *text, uint8_t value, enum ve_place place)
{
    if (place == VE_PLACE_VM)
        put(text, "%%vm%u", value);
    else if (value == VE_VIX)
        put(text, "%%vix");
    else
        put(text, "%%v%u", value);
}

/* disp(sy, sz), without what is 0. */
static void put_memory(struct text *text, const struct ve_instruction *instruction)
{
    bool index = instruction->cy != 0 || instruction->y != 0;
    bool base = instruction->cz != 0;
    if (instruction->displacement != 0 || (!index && !base))
        put(text, "%" PRId32, instruction->displacement);
    if (!index && !base)
        return;

    put(text, "(");
    if (index)
        put_y(text, instruction, VE_PLACE_PLAIN);
    if (base)
        put(text, ", %%s%u", instruction->z);
    put(text, ")");
}

/* disp(sz), with what stands before and behind the register. */
static void put_base(struct text *text, const struct ve_instruction *instruction,
                     const char *before)
{
    if (instruction->displacement != 0 || instruction->cz == 0)
        put(text, "%" PRId32, instruction->displacement);
    if (instruction->cz != 0)
        put(text, "%s%%s%u)", before, instruction->z);
}

static void put_operand(struct text *text, const struct ve_instruction *instruction,
                        const struct ve_operand *operand)
{
    switch ((enum ve_field)operand->field) {
    case VE_FIELD_SX: put(text, "%%s%u", instruction->x); break;
    case VE_FIELD_SY: put_y(text, instruction, operand->place); break;
    case VE_FIELD_SZ: put_z(text, instruction, operand->place); break;
    case VE_FIELD_SW: put(text, "%%s%u", instruction->sw); break;
    case VE_FIELD_VX: put_vector(text, instruction->vx, operand->place); break;
    case VE_FIELD_VY: put_vector(text, instruction->vy, operand->place); break;
    case VE_FIELD_VZ: put_vector(text, instruction->vz, operand->place); break;
    case VE_FIELD_VW: put_vector(text, instruction->vw, operand->place); break;
    case VE_FIELD_MEM: put_memory(text, instruction); break;
    case VE_FIELD_BASE: put_base(text, instruction, "("); break;
    case VE_FIELD_HOST:
        put_base(text, instruction, "(");
        if (instruction->cz == 0)
            put(text, "()");
        break;
    case VE_FIELD_BRANCH: put_base(text, instruction, "(, "); break;
    case VE_FIELD_TARGET: put(text, "%" PRId32, instruction->displacement); break;
    case VE_FIELD_KIND: put(text, "%u", instruction->kind); break;
    }
}

/* Operands of a comparison do not matter where the condition is always or never. */
static bool is_left_out(const struct ve_operand *operand, const struct ve_instruction *instruction,
                        const struct ve_operation_info *row)
{
    if (instruction->condition != VE_ALWAYS && instruction->condition != VE_NEVER)
        return false;
    if (row->format == VE_FORMAT_CF)
        return operand->field == VE_FIELD_SY || operand->field == VE_FIELD_SZ;
    return row->format == VE_FORMAT_RV && operand->place != VE_PLACE_VM &&
           ve_operands_of(instruction->operation)->list[0].place == VE_PLACE_VM &&
           operand->field == VE_FIELD_VZ;
}

static void put_operands(struct text *text, const struct ve_instruction *instruction,
                         const struct ve_operation_info *row)
{
    const struct ve_operands *operands = ve_operands_of(instruction->operation);
    const char *rest = row->operands;
    bool first = true;
    for (uint32_t i = 0; i < operands->count; i++) {
        const struct ve_operand *operand = &operands->list[i];
        const char *begin = row->operands + operand->text;
        if (operand->selects) {
            i++;
            if (!ve_operand_stands(operands, i - 1, instruction))
                operand++;
        }
        const char *end = row->operands + operands->list[i].text + operands->list[i].length;
        if (!is_left_out(operand, instruction, row)) {
            if (!first)
                put(text, "%.*s", (int)(begin - rest), rest);
            put_operand(text, instruction, operand);
            first = false;
        }
        rest = end;
    }
    put(text, "%s", rest);
}

/* --- the whole -----------------------------------------------------------------------------------
 */

static void put_unknown(struct text *text, uint64_t word)
{
    const char *ve3 = ve3_mnemonic(word);
    put(text, ".quad 0x%016" PRIx64, word);
    if (ve3 != NULL)
        put(text, " # %s", ve3);
}

size_t ve_disassemble(uint64_t word, char *text, size_t size)
{
    struct text written = {text, size, 0};
    struct ve_instruction instruction;
    if (size > 0)
        text[0] = '\0';
    if (!ve_decode(word, &instruction)) {
        put_unknown(&written, word);
        return written.length;
    }

    const struct ve_operation_info *row = ve_operation_info(instruction.operation);
    put_mnemonic(&written, &instruction, row);
    if (row->operands[0] != '\0')
        put(&written, " ");
    put_operands(&written, &instruction, row);
    if (row->masking != VE_MASKING_PLAIN && instruction.mask != 0)
        put(&written, ", %%vm%u", instruction.mask);
    return written.length;
}
