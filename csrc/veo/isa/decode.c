/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.c: from a word to its operation and operands. */
#include "fields.h"

static uint8_t bits(uint64_t word, unsigned low, unsigned width)
{
    return (uint8_t)(word >> low & ((UINT64_C(1) << width) - 1));
}

static void split(uint64_t word, struct ve_instruction *instruction)
{
    *instruction = (struct ve_instruction){
        .word = word,
        .operation = VE_OP_NONE,
        .opcode = bits(word, 56, 8),
        .x = bits(word, 48, 7),
        .y = bits(word, 40, 7),
        .z = bits(word, 32, 7),
        .cx = bits(word, 55, 1),
        .cx2 = bits(word, 54, 1),
        .cy = bits(word, 47, 1),
        .cz = bits(word, 39, 1),
        .cs = bits(word, 53, 1),
        .cs2 = bits(word, 52, 1),
        .mask = bits(word, 48, 4),
        .prediction = bits(word, 52, 2),
        .vx = bits(word, 24, 8),
        .vy = bits(word, 16, 8),
        .vz = bits(word, 8, 8),
        .vw = bits(word, 0, 8),
        .sw = bits(word, 0, 7),
        .displacement = (int32_t)(uint32_t)word,
    };
}

/* A field of sy or sz: where its value is. False if no such value exists. */
static bool scalar_source(uint8_t value, bool is_register, enum ve_place place, unsigned width,
                          unsigned immediates, uint16_t *source)
{
    if (is_register) {
        *source = value;
        return value < 64 && place != VE_PLACE_IMMEDIATE && place != VE_PLACE_MISC &&
               (place != VE_PLACE_PAIR || value % 2 == 0);
    }

    switch (place) {
    case VE_PLACE_REGISTER: return false;
    case VE_PLACE_ZERO: *source = VE_SOURCE_MASK; return value == 0;
    case VE_PLACE_MASK: *source = (uint16_t)(VE_SOURCE_MASK + value); return true;
    case VE_PLACE_UNSIGNED:
    case VE_PLACE_IMMEDIATE:
        *source = (uint16_t)(VE_SOURCE_UNSIGNED + value);
        return value < 1u << width;
    case VE_PLACE_MISC: return ve_miscellaneous_name(value) != NULL;
    default: *source = (uint16_t)(immediates + value); return true;
    }
}

static bool y_source(struct ve_instruction *instruction, enum ve_place place, unsigned width)
{
    return scalar_source(instruction->y, instruction->cy != 0, place, width, VE_SOURCE_SIGNED,
                         &instruction->y_source);
}

static bool z_source(struct ve_instruction *instruction, enum ve_place place, unsigned width)
{
    return scalar_source(instruction->z, instruction->cz != 0, place, width, VE_SOURCE_MASK,
                         &instruction->z_source);
}

static bool vector_exists(uint8_t value, enum ve_place place)
{
    return place == VE_PLACE_VM ? value < 16 : value < 64 || value == VE_VIX;
}

/* True if an operand exists; sets where its value is. */
static bool take(struct ve_instruction *instruction, const struct ve_operand *operand)
{
    switch ((enum ve_field)operand->field) {
    case VE_FIELD_SX:
        return instruction->x < 64 && (operand->place != VE_PLACE_PAIR || instruction->x % 2 == 0);
    case VE_FIELD_SY: return y_source(instruction, operand->place, operand->bits);
    case VE_FIELD_SZ: return z_source(instruction, operand->place, operand->bits);
    case VE_FIELD_SW: return instruction->sw < 64;
    case VE_FIELD_VX: return vector_exists(instruction->vx, operand->place);
    case VE_FIELD_VY: return vector_exists(instruction->vy, operand->place);
    case VE_FIELD_VZ: return vector_exists(instruction->vz, operand->place);
    case VE_FIELD_VW: return vector_exists(instruction->vw, operand->place);
    case VE_FIELD_MEM:
        return y_source(instruction, VE_PLACE_PLAIN, 0) && z_source(instruction, VE_PLACE_ZERO, 0);
    case VE_FIELD_BASE:
    case VE_FIELD_HOST:
    case VE_FIELD_BRANCH: return z_source(instruction, VE_PLACE_ZERO, 0);
    case VE_FIELD_TARGET: return true;
    case VE_FIELD_KIND:
        instruction->kind =
            operand->bits == 2 ? bits(instruction->word, 48, 2) : bits(instruction->word, 40, 3);
        return true;
    }
    return false;
}

/* Fields that are no operands but part of the mnemonic. */
static bool take_suffixes(struct ve_instruction *instruction, const struct ve_operation_info *row)
{
    uint64_t word = instruction->word;
    bool is_vector = row->format == VE_FORMAT_RV || row->format == VE_FORMAT_RVM;
    for (const char *c = row->mnemonic; *c != '\0'; c++) {
        if (*c == '?')
            instruction->condition = row->format == VE_FORMAT_CF ? bits(word, 48, 4)
                                     : is_vector                 ? bits(word, 16, 8)
                                                                 : bits(word, 0, 4);
        if (*c == '~')
            instruction->rounding = is_vector ? bits(word, 8, 8) : bits(word, 32, 4);
    }

    uint8_t rounding = instruction->rounding;
    return instruction->condition < 16 &&
           (rounding == VE_ROUND_PSW || (rounding >= VE_ROUND_ZERO && rounding <= VE_ROUND_AWAY));
}

static bool is_operation(struct ve_instruction *instruction, uint16_t operation)
{
    const struct ve_operation_info *row = ve_operation_info(operation);
    if ((instruction->word & row->mask) != row->match || !take_suffixes(instruction, row))
        return false;

    const struct ve_operands *operands = ve_operands_of(operation);
    unsigned replaced = 0;
    for (uint32_t i = 0; i < operands->count; i++)
        if (!ve_operand_stands(operands, i, instruction))
            replaced += operands->list[i].selects;
        else if (!take(instruction, &operands->list[i]))
            return false;

    /* One scalar replaces one vector, and a pair of masks begins at an even one. */
    return replaced < 2 && (row->masking != VE_MASKING_PAIR || instruction->mask % 2 == 0);
}

bool ve_decode(uint64_t word, struct ve_instruction *instruction)
{
    split(word, instruction);
    const uint16_t *list;
    uint32_t count = ve_operations_with(instruction->opcode, &list);
    for (uint32_t i = 0; i < count; i++)
        if (is_operation(instruction, list[i])) {
            instruction->operation = list[i];
            return true;
        }

    split(word, instruction);
    return false;
}

const char *ve3_mnemonic(uint64_t word)
{
    static const struct {
        const char *mnemonic;
        uint64_t bits;
    } rows[] = {
#define VE3(mnemonic, bits) {mnemonic, UINT64_C(bits)},
#include "veo/isa/ve3.def"
#undef VE3
    };

    const char *found = NULL;
    int most = -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int count = __builtin_popcountll(rows[i].bits << 8);
        if (rows[i].bits >> 56 == word >> 56 && (word & rows[i].bits) == rows[i].bits &&
            count > most) {
            most = count;
            found = rows[i].mnemonic;
        }
    }
    return found;
}
