/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/memory_blocks.h"

#include "common/range_alloc.h"
#include "veo/lib/environment.h"

bool veolib_blocks_new(struct veolib_memory *memory)
{
    memory->blocks = NULL;
    memory->block_count = 0;
    if (veolib_env_text("VEO_CHECK") == NULL)
        return true;
    uint64_t list = range_alloc_get(memory->wire_ranges, sizeof *memory->blocks);
    memory->blocks = (struct wire_blocks *)(uintptr_t)list;
    memory->header->blocks = memory->blocks;
    return list != 0;
}

/* The worker does not use what it reads while the number is odd: what is stored then is released,
 * so that who sees it sees the number too. */
static void begin(struct wire_blocks *blocks)
{
    atomic_fetch_add_explicit(&blocks->changes, 1, memory_order_relaxed);
}

static void end(struct veolib_memory *memory)
{
    struct wire_blocks *blocks = memory->blocks;
    atomic_store_explicit(&blocks->count, memory->block_count, memory_order_release);
    atomic_fetch_add_explicit(&blocks->changes, 1, memory_order_release);
}

static void set(struct wire_block *block, uint64_t address, uint64_t size)
{
    atomic_store_explicit(&block->address, address, memory_order_release);
    atomic_store_explicit(&block->size, size, memory_order_release);
}

void veolib_blocks_add(struct veolib_memory *memory, uint64_t address, uint64_t size)
{
    struct wire_blocks *blocks = memory->blocks;
    if (blocks == NULL)
        return;
    begin(blocks);
    if (memory->block_count == WIRE_BLOCKS_MAX)
        atomic_store_explicit(&blocks->is_cut, 1, memory_order_relaxed);
    else
        set(&blocks->list[memory->block_count++], address, size);
    end(memory);
}

void veolib_blocks_remove(struct veolib_memory *memory, uint64_t start, uint64_t size)
{
    struct wire_blocks *blocks = memory->blocks;
    if (blocks == NULL)
        return;
    begin(blocks);
    for (size_t i = memory->block_count; i-- > 0;) {
        uint64_t address = atomic_load_explicit(&blocks->list[i].address, memory_order_relaxed);
        if (address < start || address - start >= size)
            continue;
        const struct wire_block *last = &blocks->list[--memory->block_count];
        set(&blocks->list[i], atomic_load_explicit(&last->address, memory_order_relaxed),
            atomic_load_explicit(&last->size, memory_order_relaxed));
    }
    end(memory);
}
