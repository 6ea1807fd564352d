/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h: the instructions that are translated together, where their code can be entered, and the C
 * that is written for them.
 */
#ifndef OFFCHIP_VE_PLAN_H
#define OFFCHIP_VE_PLAN_H

#include "veo/machine/code.h"

#include <stdio.h>

#define VE_UNIT_MOST 4096

enum ve_flow {
    VE_FLOW_ON,       /* to the next one */
    VE_FLOW_BRANCH,   /* relative to the instruction */
    VE_FLOW_COMPUTED, /* to what a register says */
    VE_FLOW_CALL,     /* the same, and comes back */
    VE_FLOW_LEAVE     /* the interpreter has it */
};

struct ve_plan {
    uint32_t count;
    struct ve_decoded list[VE_UNIT_MOST]; /* by address */
    uint64_t values[VE_UNIT_MOST][2];     /* sy and sz, where they are immediates */
    uint64_t callee[VE_UNIT_MOST];        /* where a call goes to, if that is known; or 0 */
    bool head[VE_UNIT_MOST], entry[VE_UNIT_MOST];
    uint32_t block_end[VE_UNIT_MOST]; /* where a block (block.h) begins: its end; else 0 */
    uint64_t doubles, singles;        /* registers that are variables of type double, and float */
};

/*
 * Takes what can be reached from START without computed jumps, and the functions that it calls, in
 * pages that the core has run code of: only those can surely be read.
 */
void ve_plan_make(struct ve_plan *plan, const struct ve_core *core, uint64_t start);

/*
 * Finds the registers of a plan that are numbers more often than other things, once its blocks are
 * found: such a one stays in a register of the host that has numbers.
 */
void ve_numbers_find(struct ve_plan *plan);

/* Operands that are variables of type float, of which the instruction reads the upper half alone.
 */
struct ve_halves {
    bool x, y, z;
};
struct ve_halves ve_upper_halves(const struct ve_plan *plan, const struct ve_instruction *i);

enum ve_flow ve_flow_of(const struct ve_instruction *instruction);
/* The place of an address in the list; count if it is not there. */
uint32_t ve_plan_find(const struct ve_plan *plan, uint64_t address);
/* True if the executor does an operation, and false if its text is put into the code. */
bool ve_is_called(uint32_t operation);

/*
 * Writes the C of a plan. It does not depend on where the code is, nor on the addresses that it
 * makes: the same library, loaded elsewhere, gives the same text.
 */
void ve_generate(FILE *out, const struct ve_plan *plan);
/* Writes the text that it begins with: what instructions do. */
void ve_write_prelude(FILE *out);

#endif
