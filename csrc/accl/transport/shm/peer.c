/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/peer.h"

#include <stdlib.h>

/* --- its rx buffers --- */

void acclib_slots_free(struct peer *peer, struct slot_list *list)
{
    while (list->n)
        atomic_store(&peer->pool.slots[list->index[--list->n]].status, ACCL_RX_ENQUEUED);
}

bool acclib_slots_take(struct peer *peer, uint32_t n, uint32_t source, struct slot_list *list)
{
    const struct pool *pool = &peer->pool;
    list->n = 0;
    for (uint32_t k = 0; k < pool->slot_count && list->n < n; k++) {
        uint32_t i = (peer->slot_hint + k) % pool->slot_count;
        uint32_t idle = ACCL_RX_ENQUEUED;
        if (!atomic_compare_exchange_strong(&pool->slots[i].status, &idle, ACCL_RX_RESERVED))
            continue;
        pool->slots[i].source = source;
        pool->slots[i].bytes = 0;
        list->index[list->n++] = (uint8_t)i;
    }

    if (list->n < n) {
        acclib_slots_free(peer, list);
        return false;
    }

    peer->slot_hint = (list->index[n - 1] + 1U) % pool->slot_count;
    return true;
}

void acclib_slots_release(const struct pool *pool, uint32_t chain)
{
    for (uint32_t k = 0; chain && chain <= pool->slot_count && k < pool->slot_count; k++) {
        struct rx_slot *slot = &pool->slots[chain - 1];
        chain = atomic_load(&slot->next);
        atomic_store(&slot->status, ACCL_RX_ENQUEUED);
    }
}

/* --- unexpected messages --- */

void acclib_unexpected_append(struct peer *peer, struct unexpected *unexpected)
{
    list_append(&peer->unexpected, &unexpected->in_peer);
}

void acclib_unexpected_remove(struct peer *peer, struct unexpected *unexpected)
{
    list_remove(&peer->unexpected, &unexpected->in_peer);
    if (unexpected->shared != NULL)
        peer->offered--;
    free(unexpected->heap);
    free(unexpected);
}

struct unexpected *acclib_unexpected_find(const struct peer *peer, uint64_t key)
{
    struct list_node *at = peer->unexpected.first;
    while (at != NULL && unexpected_of(at)->entry.key != key)
        at = at->next;
    return at != NULL ? unexpected_of(at) : NULL;
}

/* --- its lanes --- */

struct lane *acclib_lane_find_in(const struct peer *peer, uint64_t key)
{
    struct arena_header *arena = peer->arena;
    for (uint32_t i = 0; arena != NULL && i < ARENA_LANES; i++) {
        if (atomic_load(&arena->lanes[i].key) != key)
            continue;

        uint64_t offset = READ_ONCE(arena->lanes[i].offset);
        bool inside = offset % ARENA_LINE == 0 && offset <= peer->arena_bytes &&
                      sizeof(struct lane) <= peer->arena_bytes - offset;
        return inside ? (struct lane *)(void *)((uint8_t *)arena + offset) : NULL;
    }

    return NULL;
}
