/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/rx_pool.h"

#include <string.h>

#include "accl.h"
#include "accl/base/arena.h"
#include "accl/base/error.h"
#include "accl/base/heap.h"

int acclib_rx_pool_make(struct heap *heap, struct arena_header *header, uint32_t count,
                        uint64_t bytes, struct pool *pool)
{
    uint64_t slots = acclib_heap_get(heap, count * sizeof(struct rx_slot));
    uint64_t data = slots ? acclib_heap_get(heap, count * bytes) : 0;
    if (!data) {
        if (slots)
            acclib_heap_put(heap, slots);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (%u rx buffers of %llu bytes)", count,
                           (unsigned long long)bytes);
    }

    if (pool->slots != NULL) {
        acclib_heap_put(heap, heap_offset(heap, pool->slots));
        acclib_heap_put(heap, heap_offset(heap, pool->data));
    }

    struct rx_slot *slot = (struct rx_slot *)(void *)(heap->base + slots);
    memset(slot, 0, count * sizeof *slot);
    for (uint32_t i = 0; i < count; i++)
        atomic_init(&slot[i].status, ACCL_RX_ENQUEUED);

    *pool = (struct pool){
        .slots = slot, .data = heap->base + data, .slot_bytes = bytes, .slot_count = count};
    header->slots = slots;
    header->pool = data;
    header->slot_bytes = bytes;
    header->slot_count = count;

    return ACCL_OK;
}
