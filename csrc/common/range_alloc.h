/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocator for address ranges that it never touches: all its records are in ordinary process
 * memory, so nothing that is written into the ranges can harm it. Used for memory that is shared
 * with, or owned by, another process.
 *
 * Blocks are aligned to OFFCHIP_RANGE_ALIGN (64), freed blocks merge with free neighbours, and
 * allocation is good-fit from size classes: O(1) in practice, and a request that fits into the
 * largest free block never fails. Not thread-safe: the owner locks.
 */
#ifndef OFFCHIP_RANGE_ALLOC_H
#define OFFCHIP_RANGE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"

#define OFFCHIP_RANGE_ALIGN 64

struct range_alloc;

/* Manages [BASE, BASE + SIZE); both must be multiples of the alignment. NULL without memory. */
struct range_alloc *range_alloc_new(uint64_t base, uint64_t size) OFFCHIP_SYMBOL(range_alloc_new);
void range_alloc_delete(struct range_alloc *ra) OFFCHIP_SYMBOL(range_alloc_delete);
/*
 * Address of a block of at least SIZE bytes (0 counts as 1), 0 if there is none. Prefers blocks
 * that were used before (their pages are there already) over never-used space.
 */
uint64_t range_alloc_get(struct range_alloc *ra, uint64_t size) OFFCHIP_SYMBOL(range_alloc_get);
/* Frees the block that starts at ADDR; *SIZE, if not NULL, gets its length. False if none does. */
bool range_alloc_put(struct range_alloc *ra, uint64_t addr, uint64_t *size)
    OFFCHIP_SYMBOL(range_alloc_put);
/* Length of the allocated block that starts at ADDR, 0 if none does. */
uint64_t range_alloc_length(const struct range_alloc *ra, uint64_t addr)
    OFFCHIP_SYMBOL(range_alloc_length);
/* Bytes in allocated blocks, and the highest address ever given out (end of the block). */
uint64_t range_alloc_used(const struct range_alloc *ra) OFFCHIP_SYMBOL(range_alloc_used);
uint64_t range_alloc_high_water(const struct range_alloc *ra)
    OFFCHIP_SYMBOL(range_alloc_high_water);
/*
 * For giving memory back: the free block that is largest among those with used pages, or false.
 * The caller releases its pages and says so with range_alloc_mark_clean().
 */
bool range_alloc_largest_dirty(const struct range_alloc *ra, uint64_t *addr, uint64_t *size)
    OFFCHIP_SYMBOL(range_alloc_largest_dirty);
void range_alloc_mark_clean(struct range_alloc *ra, uint64_t addr)
    OFFCHIP_SYMBOL(range_alloc_mark_clean);
/* Bytes in free blocks whose pages were used and not released. */
uint64_t range_alloc_dirty(const struct range_alloc *ra) OFFCHIP_SYMBOL(range_alloc_dirty);

#endif
