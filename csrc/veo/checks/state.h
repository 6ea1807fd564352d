/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h: what checks keep of a core, and need to know of operations. Private to this folder. */
#ifndef OFFCHIP_VE_CHECKS_STATE_H
#define OFFCHIP_VE_CHECKS_STATE_H

#include "veo/checks/checks.h"
#include "veo/machine/operands.h"

#define ALL UINT64_MAX
#define LOW_HALF UINT64_C(0xFFFFFFFF)
#define HIGH_HALF (LOW_HALF << 32)

/* --- operations: facts.c derives it from the table of instructions --- */

enum ve_fact_kind {
    VE_FACT_NOTHING, /* no operand of interest */
    VE_FACT_SCALAR,
    VE_FACT_LOAD,
    VE_FACT_STORE,
    VE_FACT_ATOMIC,
    VE_FACT_BRANCH, /* relative */
    VE_FACT_JUMP,   /* to an address in a register */
    VE_FACT_CALL,
    VE_FACT_LENGTH, /* lvl */
    VE_FACT_VECTOR, /* element by element */
    VE_FACT_MOVE,   /* elements change their place */
    VE_FACT_REDUCE,
    VE_FACT_RECUR, /* an element depends on those before */
    VE_FACT_VECTOR_LOAD,
    VE_FACT_VECTOR_STORE,
    VE_FACT_GATHER,
    VE_FACT_SCATTER,
    VE_FACT_MASK_MADE,     /* of elements */
    VE_FACT_MASK_COMBINED, /* of masks */
    VE_FACT_MASK_COUNTED,
    VE_FACT_ELEMENT_SET, /* lsv */
    VE_FACT_ELEMENT_GOT, /* lvs */
    VE_FACT_MASK_SET,    /* lvm */
    VE_FACT_MASK_GOT     /* svm */
};

/* Parts of 64 bits that an operation takes its sources from, or that a result fills. */
enum ve_fact_part { VE_PART_ALL, VE_PART_LOW, VE_PART_HIGH, VE_PART_HALVES };

struct ve_fact {
    uint8_t kind;           /* enum ve_fact_kind */
    uint8_t bytes;          /* of an access */
    uint8_t from, to;       /* enum ve_fact_part */
    bool is_2d;             /* of accesses of vectors */
    bool is_pair;           /* operands are pairs of registers */
    uint16_t reads, writes; /* as those of enum in veo/time/kinds.h */
};

/* Of an operation below VE_OPERATION_COUNT. */
const struct ve_fact *ve_fact_of(uint32_t operation);

/* --- a core --- */

struct call {
    uint64_t pc, back; /* where the call is, and where it returns to */
    uint64_t stack;    /* the stack pointer at that moment */
};

struct ve_checks {
    const struct ve_checks_services *services;
    struct ve_core *core;
    const struct ve_instruction *instruction; /* that is looked at */
    uint64_t pc;
    uint64_t stack, top; /* where the stack pointer was last, and at first */
    struct call *calls;
    size_t depth, capacity;
    uint64_t lost; /* calls for which there was no room */

    uint64_t s[64]; /* undefined bits, as of all that follows */
    uint64_t vm[VE_MASKS][VE_MASK_WORDS];
    struct ve_core *shade;        /* its vectors are undefined bits */
    uint16_t written[VE_VECTORS]; /* length that a vector was last written with */
    uint16_t read_to[VE_VECTORS]; /* elements below were read since */
};

static inline bool check_wants(const struct ve_checks *checks, enum ve_check check)
{
    return (checks->services->wanted & (uint32_t)check) != 0;
}

static inline uint64_t undefined_of(const struct ve_checks *checks, unsigned source)
{
    return source < 64 ? checks->s[source] : 0;
}

static inline unsigned vector_number(const struct ve_checks *checks, unsigned field)
{
    return (field == VE_VIX ? checks->core->vix : field) % VE_VECTORS;
}

/* tell.c. What was never written is taken as written by the caller then. */
void ve_check_tell(struct ve_checks *checks, struct ve_finding finding);
void ve_check_tell_scalar(struct ve_checks *checks, enum ve_finding_kind kind, unsigned source);

/* calls.c */
void ve_calls_enter(struct ve_checks *checks, uint64_t pc, uint64_t back);
void ve_calls_return(struct ve_checks *checks, uint64_t to);

/* scalar.c: what an instruction makes of undefined bits in scalar registers. */
void ve_check_scalar(struct ve_checks *checks, const struct ve_fact *fact);
/* The bits of 64 that are undefined if some of PART of a source are. */
uint64_t ve_check_spread(const struct ve_fact *fact, uint64_t undefined);

/* vector.c: the same of vectors and masks. */
void ve_check_vector(struct ve_checks *checks, const struct ve_fact *fact);
/* Begins to read and to write a vector of the core's length. */
void ve_check_read(struct ve_checks *checks, unsigned number);
void ve_check_write(struct ve_checks *checks, unsigned number, bool keeps);
/* The undefined bits of element i's bit in a mask, as 0 or 1. */
bool ve_mask_is_undefined(const struct ve_checks *checks, unsigned mask, uint32_t i);

/* memory.c: accesses to memory. */
void ve_check_memory(struct ve_checks *checks, const struct ve_fact *fact);
/* Tells if an access is outside of what is allocated. */
bool ve_check_inside(struct ve_checks *checks, struct ve_finding finding);

#endif
