/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rx buffers of a receiver, and chains of them that hold one message. Senders take and fill them,
 * the receiver sets them free. Any other process may write to them: counts are bounded by the pool.
 */
#ifndef ACCL_SLOTS_H
#define ACCL_SLOTS_H

#include <stdbool.h>

#include "accl/base/arena.h"
#include "accl/transport/shm/peer.h"

/* Rx buffers that were taken: which ones is not read from the receiver's file again. */
struct slot_list {
    uint32_t n;
    uint8_t index[ARENA_RX_MAX];
};

/* Takes N idle rx buffers of PEER for SOURCE; false if there are not enough. */
bool acclib_slots_take(struct peer *peer, uint32_t n, uint32_t source, struct slot_list *list);

/* Gives them back. */
void acclib_slots_free(struct peer *peer, struct slot_list *list);

/* The receiver is done with a chain. */
void acclib_slots_release(const struct pool *pool, uint32_t chain);

#endif
