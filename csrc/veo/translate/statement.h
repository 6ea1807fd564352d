/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statement.h: the C of single instructions, which is made of the macros of generated_code.h:
 * scalar registers are variables s0 to s63.
 */
#ifndef OFFCHIP_VE_STATEMENT_H
#define OFFCHIP_VE_STATEMENT_H

#include "veo/translate/plan.h"

struct ve_operand_text {
    char text[32];
};
/* Of sy and sz: a variable, or the number of an immediate; IS_UPPER: of a float's upper half. */
struct ve_operand_text ve_value_of(uint16_t source, uint64_t immediate, bool is_upper);

/* A set of scalar registers. */
static inline uint64_t ve_bit(uint32_t index)
{
    return UINT64_C(1) << index;
}
/* Those that an instruction reads or writes. */
uint64_t ve_registers_used(const struct ve_instruction *instruction);

/* Writes "if (...) " for the condition of a branch, which is of the values Y and Z. */
void ve_write_condition(FILE *out, const struct ve_instruction *i, const char *y, const char *z);
/* Writes the values of registers into the core, for executors. */
void ve_write_spill(FILE *out, uint64_t registers);
/* Writes what an instruction does that goes on to the next one. */
void ve_write_operation(FILE *out, const struct ve_plan *plan, uint32_t at);

#endif
