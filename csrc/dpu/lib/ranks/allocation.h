/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allocation.h: the arrays of ranks that sets point to.
 *
 * The memory of an allocation that is over is used again for another one, never for something else,
 * so that a set which is used after it was freed is noticed.
 */
#ifndef OFFCHIP_DPU_LIB_ALLOCATION_H
#define OFFCHIP_DPU_LIB_ALLOCATION_H

#include "common/list.h"
#include "dpu_types.h"

#include <stdbool.h>
#include <stdint.h>

struct dpulib_allocation {
    struct list_node node;
    uint64_t generation;
    uint32_t count, room;
    bool by_rank; /* dpu_get_rank_of_type() */
    struct dpu_rank_t *ranks[];
};

/* With the lock: those that sets point to. */
extern struct list dpulib_allocations;

static inline struct dpulib_allocation *dpulib_allocation_at(struct list_node *node)
{
    return LIST_ENTRY(node, struct dpulib_allocation, node);
}

/* An allocation for COUNT ranks, all NULL, which is in no list. NULL if out of memory. Without the
 * lock. */
struct dpulib_allocation *dpulib_allocation_take(uint32_t count);
/* Ends one that is in no list. Without the lock. */
void dpulib_allocation_give_back(struct dpulib_allocation *allocation);

/* With the lock: whether an array of a set can have so many ranks. It is not read, as callers may
 * pass anything. */
bool dpulib_may_have_ranks(struct dpu_rank_t *const *ranks, uint32_t count);

#endif
