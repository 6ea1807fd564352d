/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h: the heap of VE code that is checked: malloc() and its kin, with hidden bytes around
 * each block, whose freed blocks are not used again for a while. Its memory is the shadow's:
 * hidden, fresh when it is given out, hidden again when it is freed.
 *
 * It belongs to the process. Any thread; calls exclude each other.
 */
#ifndef OFFCHIP_VE_BLOCKS_H
#define OFFCHIP_VE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VE_BLOCK_CALLS 6

/* A place in the code: addresses of instructions, from the innermost call on; 0 ends them. */
struct ve_block_place {
    uint64_t calls[VE_BLOCK_CALLS];
};

struct ve_block {
    uint64_t address, size;
    uint64_t start; /* of its range, the hidden bytes included */
    bool is_freed;
    struct ve_block_place allocated, freed;
};

/* Memory of SIZE bytes, a multiple of ALIGN, which is a power of 2. 0 if there is none. */
uint64_t ve_blocks_take(uint64_t size, uint64_t align, const struct ve_block_place *place);

enum ve_blocks_result {
    VE_BLOCKS_FREED,
    VE_BLOCKS_OTHER,    /* not of this heap */
    VE_BLOCKS_NO_START, /* in this heap, but no block starts there */
    VE_BLOCKS_TWICE     /* it is freed already */
};
enum ve_blocks_result ve_blocks_free(uint64_t address, const struct ve_block_place *place);

/* The size of the block that starts at ADDRESS and is not freed. False if there is none. */
bool ve_blocks_size(uint64_t address, uint64_t *size);
/* True if an address is in the memory of this heap. */
bool ve_blocks_contain(uint64_t address);
/* The block that an address is in or nearest to. False if none is near. */
bool ve_blocks_nearest(uint64_t address, struct ve_block *found);
/* All blocks that there are count as written from now on. */
void ve_blocks_define(void);

#endif
