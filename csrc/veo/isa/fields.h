/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h: the operands of the table of instructions, parsed. Private to csrc/veo/isa. */
#ifndef OFFCHIP_VE_ISA_FIELDS_H
#define OFFCHIP_VE_ISA_FIELDS_H

#include "veo/isa/instruction.h"

enum ve_field {
    VE_FIELD_SX,
    VE_FIELD_SY,
    VE_FIELD_SZ,
    VE_FIELD_SW,
    VE_FIELD_VX,
    VE_FIELD_VY,
    VE_FIELD_VZ,
    VE_FIELD_VW,
    VE_FIELD_MEM,
    VE_FIELD_BASE,
    VE_FIELD_HOST,
    VE_FIELD_BRANCH,
    VE_FIELD_TARGET,
    VE_FIELD_KIND
};

enum ve_place {
    VE_PLACE_PLAIN,     /* a register; for sy also a signed immediate, for sz a mask immediate */
    VE_PLACE_PAIR,      /* an even register, or an immediate as in PLAIN */
    VE_PLACE_REGISTER,  /* no immediate */
    VE_PLACE_ZERO,      /* a register or 0 */
    VE_PLACE_MASK,      /* a register or a mask immediate */
    VE_PLACE_UNSIGNED,  /* a register or an unsigned immediate of some bits */
    VE_PLACE_IMMEDIATE, /* an unsigned immediate of some bits */
    VE_PLACE_MISC,      /* a miscellaneous register */
    VE_PLACE_VM         /* a mask register */
};

#define VE_OPERANDS_MAX 6

/* One operand: a field and what may stand there. */
struct ve_operand {
    uint8_t field, place, bits;
    uint8_t text, length; /* where it is in the row's text of operands */
    bool selects;         /* the next operand stands here instead if cs (or for vz, cs2) is 1 */
};

struct ve_operands {
    uint8_t count;
    struct ve_operand list[VE_OPERANDS_MAX];
};

/* The operands of an operation below VE_OPERATION_COUNT. */
const struct ve_operands *ve_operands_of(uint32_t operation);

/* Operations with an opcode: their count, and where they begin in *list. */
uint32_t ve_operations_with(uint8_t opcode, const uint16_t **list);

/* True if the operand is the one that stands in this word, of two with a bar between them. */
bool ve_operand_stands(const struct ve_operands *operands, uint32_t index,
                       const struct ve_instruction *instruction);

/* "%usrcc"; NULL if no miscellaneous register has the number. */
const char *ve_miscellaneous_name(uint8_t number);

#endif
