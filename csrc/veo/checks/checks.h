/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks.h: finding what is wrong with code of the Vector Engine while a core runs it.
 *
 * Checks look at each instruction before it is executed (core->check). They follow which bits of
 * registers, elements, masks and memory were never written, and say where behaviour depends on
 * them; and they look at the address of each access. They know nothing of files: who attaches them
 * makes sentences of what is found.
 *
 * The checks of a core belong to the thread that its core belongs to; memory is the process's
 * (shadow.h, blocks.h).
 */
#ifndef OFFCHIP_VE_CHECKS_H
#define OFFCHIP_VE_CHECKS_H

#include "veo/check_words.h"
#include "veo/checks/blocks.h"
#include "veo/machine/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ve_check {
#define X(identifier, name, value) VE_CHECK_##identifier = (value),
    VE_CHECK_LIST(X)
#undef X
};

enum ve_finding_kind {
    VE_FINDING_CONDITION, /* a branch or a choice depends on what was never written */
    VE_FINDING_ADDRESS,   /* an address does */
    VE_FINDING_LENGTH,    /* the vector length does */
    VE_FINDING_ARGUMENT,  /* an argument of a function of the host does */
    VE_FINDING_CONTENT,   /* a function of the host reads memory that was never written */
    VE_FINDING_REDUCED,   /* elements of a sum, a maximum */
    VE_FINDING_STORED,    /* what is stored where the host reads it */
    VE_FINDING_MASK,      /* the mask of an access */
    VE_FINDING_OUTSIDE,   /* an access outside of what is allocated */
    VE_FINDING_FREED,     /* free() of what is no block, or freed */
    VE_FINDING_MISALIGNED
};

/* No register, or no element. */
#define VE_FINDING_NONE UINT32_MAX

struct ve_finding {
    enum ve_finding_kind kind;
    enum ve_check check;
    uint64_t pc;                              /* of the instruction, or of the call of a gate */
    const struct ve_instruction *instruction; /* NULL in a gate */
    const char *function;                     /* of the host, in a gate; NULL otherwise */
    bool writes;
    uint64_t address; /* of an access */
    uint64_t size;    /* its bytes */
    uint32_t element; /* of a vector; VE_FINDING_NONE */
    uint32_t scalar;  /* register that was never written; number of an argument */
    uint32_t vector;  /* the same of vectors, from element `first` to `last` */
    uint32_t first, last;
    uint32_t written; /* elements that it was last written with; VE_FINDING_NONE: unknown */
};

/* Memory that the host has given out, and of which blocks.h does not know. */
enum ve_zone { VE_ZONE_UNKNOWN, VE_ZONE_INSIDE, VE_ZONE_OUTSIDE };

struct ve_checks;

struct ve_checks_services {
    uint32_t wanted; /* enum ve_check, or-ed */
    void (*tell)(struct ve_checks *checks, const struct ve_finding *finding);
    /* Says of memory of the host's whether it was given out; a write of undefined elements INSIDE
     * is told. NULL: none. */
    enum ve_zone (*zone)(uint64_t address, uint64_t size);
};

/* Attaches checks to CORE, whose stack ends where its stack pointer is. NULL without memory. */
struct ve_checks *ve_checks_attach(struct ve_core *core, const struct ve_checks_services *services);
/* Before its core is destroyed. NULL does nothing. */
void ve_checks_detach(struct ve_checks *checks);

const struct ve_core *ve_checks_core(const struct ve_checks *checks);

/*
 * A function is about to be called by the host with COUNT arguments in registers, and more in
 * [FROM, FROM + SIZE) of the stack. OUTERMOST: nothing but arguments is in registers.
 */
void ve_checks_enter(struct ve_checks *checks, unsigned count, uint64_t from, uint64_t size,
                     bool outermost);

/* Instructions that called what runs, from the innermost on, beginning with PC itself. */
struct ve_block_place ve_checks_place(const struct ve_checks *checks, uint64_t pc);
/* The number of calls under way; and the instruction that made the one that is DEPTH calls out. */
size_t ve_checks_depth(const struct ve_checks *checks);
uint64_t ve_checks_caller(const struct ve_checks *checks, size_t depth);

/* --- for gates: calls of functions of the host --- */

/* The instruction that called the gate. */
uint64_t ve_checks_gate_pc(const struct ve_checks *checks);
/* Undefined bits of a scalar register. */
uint64_t ve_checks_undefined(const struct ve_checks *checks, unsigned number);
void ve_checks_define(struct ve_checks *checks, unsigned number);
/* Where the stack begins: its highest address. */
uint64_t ve_checks_stack_top(const struct ve_checks *checks);
/* Tells of something that is wrong with a call of the finding's function. */
void ve_checks_tell_gate(struct ve_checks *checks, struct ve_finding finding);
/* After the gate: its result is written, and the stack pointer may have moved. */
void ve_checks_leave_gate(struct ve_checks *checks);
/* Tells of an access of SIZE bytes by FUNCTION; true if nothing is wrong with it. */
bool ve_checks_range(struct ve_checks *checks, const char *function, uint64_t address,
                     uint64_t size, bool writes);

#endif
