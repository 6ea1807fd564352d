/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that wait for a message without packets (direct.h): those of this rank that the other
 * one was told of, and those of the other one. With the lock held, unless it says so.
 */
#ifndef ACCL_PACKETS_DIRECT_NAMES_H
#define ACCL_PACKETS_DIRECT_NAMES_H

#include "accl/transport/packets/state.h"

/* Names of a channel that are kept, of each side. */
#define DIRECT_NAMES_MOST 64

/* Name of a message, equal on both sides. */
struct direct_name {
    uint64_t key, at, bytes;
    uint32_t tag, sequence, wire_type;
};

/* A receive that its sender was told of. */
struct posted {
    struct list_node in_channel;
    struct direct_name name;
    uint8_t *data;             /* NULL if the receive has ended */
    struct incoming *incoming; /* whose data go there; NULL before it is announced */
};

static inline uint32_t direct_names(const struct list *list)
{
    uint32_t n = 0;
    for (const struct list_node *at = list->first; at != NULL; at = at->next)
        n++;
    return n;
}

/* The receive that waits for the message NAME and to which none was announced; or NULL. */
struct posted *acclib_direct_posted(const struct packet_channel_state *state,
                                    const struct direct_name *name);

/* Takes the other rank's receive that waits for the message NAME off the list, and those of which
 * the message was sent before; false if there is none. */
bool acclib_direct_claim(struct packet_channel_state *state, uint32_t channel,
                         const struct direct_name *name);

/* Packets that arrive: NULL, or what is wrong. */
const char *acclib_direct_ready(struct packet_channel_state *state, const struct packet_header *h);
const char *acclib_direct_announced(accl_device *device, uint32_t rank,
                                    struct packet_channel_state *state,
                                    const struct packet_header *h);

/* Without the lock: the data of POST, which it takes, are there. */
void acclib_direct_arrived(accl_device *device, struct packet *packet);

/* Frees what a channel holds. */
void acclib_direct_clear(struct packet_channel_state *state);

#endif
