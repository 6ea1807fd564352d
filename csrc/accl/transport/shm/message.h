/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ends of a message have in common. */
#ifndef ACCL_MESSAGE_H
#define ACCL_MESSAGE_H

#include "accl/engine/engine.h"

struct sending {
    struct communicator *comm;
    struct peer *peer;
    uint32_t to;
    const uint8_t *data;
    uint64_t offset; /* of data in the sender's file */
    uint32_t source_type, wire_type;
    uint64_t count, segment;
    uint32_t tag, stream, sequence, numbers;
};

static inline uint32_t peer_rank(const accl_device *device, const struct peer *peer)
{
    return (uint32_t)(peer - device->peers);
}

/* Sets the buffers of a chain free; as many as the pool has, whatever the chain says. */
void slots_release(const struct pool *pool, uint32_t chain);
void parcel_append(struct peer *peer, struct parcel *parcel);

#endif
