/* SPDX-License-Identifier: BSD-3-Clause */
/* block_state.h: a block while its C is written; block_code.c opens it. */
#ifndef OFFCHIP_VE_BLOCK_STATE_H
#define OFFCHIP_VE_BLOCK_STATE_H

#include "veo/translate/block.h"
#include "veo/translate/statement.h"

#define NOWHERE UINT32_MAX

struct block {
    const struct ve_plan *plan;
    uint32_t first, end;
    uint32_t store; /* the access that it ends with, other than a load; the end without one */
    struct ve_element elements[VE_BLOCK_MOST];
    uint32_t last[VE_VECTORS]; /* where that is made which registers have at the end, or NOWHERE */
    bool is_read[VE_VECTORS];  /* as it was before the block */
    uint32_t last_mask[VE_MASKS];
    bool mask_is_read[VE_MASKS];
    struct ve_block_path path;
    uint64_t forgotten; /* what it writes, and what follows may write anew before it is read */
    uint32_t group;     /* which one is written, of those that pass together */
};

static inline const struct ve_instruction *instruction_of(const struct block *b, uint32_t at)
{
    return &b->plan->list[at].instruction;
}

static inline struct ve_element element_of(const struct block *b, uint32_t at)
{
    return b->elements[at - b->first];
}

static inline bool ends_with(const struct block *b, enum ve_element_kind kind)
{
    return b->store < b->end && element_of(b, b->store).kind == kind;
}

/* True if it ends with an access by addresses. */
static inline bool has_addresses(const struct block *b)
{
    return ends_with(b, VE_ELEMENT_GATHER) || ends_with(b, VE_ELEMENT_SCATTER);
}

static inline uint32_t mask_made(const struct block *b, uint32_t at)
{
    return instruction_of(b, at)->vx & (VE_MASKS - 1);
}

/*
 * Writes COUNT groups of elements, which pass through all vector instructions together: all load
 * before one stores. IS_PART: the last one, of fewer elements.
 */
void ve_block_write_groups(FILE *out, struct block *b, uint32_t count, bool is_part);

#endif
