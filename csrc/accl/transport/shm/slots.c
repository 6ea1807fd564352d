/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/slots.h"

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
