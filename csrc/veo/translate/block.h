/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.h: blocks of a plan: vector instructions that are done together, one group of elements
 * after the other. Scalar instructions between them are done before. A block has at most one store,
 * or one access by addresses, as its last instruction; so what it loads is what there was before,
 * and of what it does, only the store can be seen from elsewhere.
 */
#ifndef OFFCHIP_VE_BLOCK_H
#define OFFCHIP_VE_BLOCK_H

#include "veo/translate/plan.h"

/* Instructions of a block. */
#define VE_BLOCK_MOST 64

enum ve_element_kind {
    VE_ELEMENT_NONE, /* not one for a block */
    VE_ELEMENT_WHOLE,
    VE_ELEMENT_DOUBLE,
    VE_ELEMENT_SINGLE,  /* one or two in an element */
    VE_ELEMENT_COMPARE, /* as these, in the host's rounding to nearest alone */
    VE_ELEMENT_MASK,    /* the making of one */
    VE_ELEMENT_LOAD,
    VE_ELEMENT_STORE,
    VE_ELEMENT_GATHER, /* accesses by addresses, which operand 1 has */
    VE_ELEMENT_SCATTER
};

/* Parts of elements that operands and values are; the other half of such a value is made of it. */
enum ve_part {
    VE_PART_WHOLE,
    VE_PART_UPPER,    /* and 0 */
    VE_PART_LOWER,    /* of operands */
    VE_PART_SIGNED,   /* the lower half, extended by its sign */
    VE_PART_UNSIGNED, /* and by 0 */
};

/* A vector instruction as it is done to each element of its operands. */
struct ve_element {
    enum ve_element_kind kind;
    uint32_t operands;            /* 1: y, 2: z, 4: w */
    uint32_t scalars;             /* those of them that are Y, the same for all elements */
    bool has_z;                   /* operand 4 is Z, as a scalar */
    enum ve_part from, to;        /* what operands and the value are of */
    uint32_t bytes;               /* in memory */
    bool is_masked;               /* depends on a mask register other than the first */
    bool keeps;                   /* the elements that its mask leaves out */
    enum ve_element_kind numbers; /* in which a NaN is looked for: DOUBLE, SINGLE or NONE */
};
struct ve_element ve_element_of(const struct ve_instruction *instruction);

/* True if a block ends with it: nothing is loaded later, and nothing can fail. */
static inline bool ve_element_ends(struct ve_element element)
{
    return element.kind >= VE_ELEMENT_STORE;
}

/* The register of an operand: 1: y, 2: z, 4: w. */
uint8_t ve_element_register(const struct ve_instruction *instruction, uint32_t operand);
/* The set of vector registers that are read; none of an instruction that is not one for a block. */
uint64_t ve_element_reads(const struct ve_instruction *instruction);

/*
 * The way from a block to the next one, and into it, as places in the plan, if what is done there
 * does no more than to write scalar registers. It may have one branch back, which is taken.
 */
struct ve_block_path {
    uint32_t count;
    uint32_t places[2 * VE_BLOCK_MOST];
    uint64_t written; /* vector registers that are written there, and not read before */
    uint32_t masks_written;
};
void ve_block_follow(const struct ve_plan *plan, uint32_t first, struct ve_block_path *path);

/* Finds the blocks of a plan: what is generated then has them. */
void ve_blocks_find(struct ve_plan *plan);

/* Writes the C of the block that begins at FIRST. */
void ve_block_write(FILE *out, const struct ve_plan *plan, uint32_t first);

#endif
