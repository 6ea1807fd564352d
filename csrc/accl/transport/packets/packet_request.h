/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of a message that is being sent or received, and waiting for the other side. */
#ifndef ACCL_PACKETS_PACKET_REQUEST_H
#define ACCL_PACKETS_PACKET_REQUEST_H

#include "accl/transport/packets/state.h"

struct packet_message {
    uint32_t channel, tag, sequence, stream;
    uint32_t call; /* of a collective: the note of it */
    uint64_t at;   /* of a collective: which of the messages between two members */
};

/* A short message that a call awaits, all in one packet, and where its data go. */
struct awaited {
    const struct packet_message *message;
    uint64_t key; /* of the communicator */
    uint32_t rank;
    uint32_t type, wire_type;
    uint8_t *data;
    uint64_t count, bytes; /* bytes of WIRE_TYPE */
    uint32_t numbers;      /* sequence numbers that it took */
};

struct direct_name;
struct posted;

struct packet_request {
    accl_device *device;
    struct communicator *comm;
    uint32_t index, rank; /* the other side */
    struct packet_link *link;
    struct packet_channel_state *state;
    const struct packet_message *message;
    uint32_t operation, timeout_bits;
    uint64_t segments;
    struct incoming *found;
    struct posted *posted; /* see direct.h */
    struct packet *lent;
    uint64_t lent_id;
    int64_t until;
    struct direct_name *name;
    bool claimed, left, is_long;
};

void acclib_packet_request_make(struct packet_request *w, accl_device *device,
                                struct communicator *comm, uint32_t index,
                                const struct packet_message *message, uint32_t operation,
                                uint32_t timeout_bits);

/* Waits until READY, which is called with the lock held, says so: 0, with the lock held. Error bits
 * without it. */
uint32_t acclib_packet_request_wait(struct packet_request *w,
                                    bool (*ready)(struct packet_request *w));

static inline void request_lock(const struct packet_request *w)
{
    pthread_mutex_lock(&w->device->packets->lock);
}

static inline void request_unlock(const struct packet_request *w)
{
    pthread_mutex_unlock(&w->device->packets->lock);
}

#endif
