/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that are to go out, and messages that came. With the lock held, unless it says so. */
#ifndef ACCL_PACKETS_QUEUE_H
#define ACCL_PACKETS_QUEUE_H

#include "accl/transport/packets/packet_request.h"

static inline struct packet_header *packet_header_of(struct packet *packet)
{
    return (struct packet_header *)(void *)packet->data;
}

/* A packet to RANK with this header and room for PAYLOAD bytes after it; NULL if out of memory.
 * With or without the lock. */
struct packet *acclib_packet_make(const accl_device *device, uint32_t rank,
                                  struct packet_header header, uint64_t payload);

/* Counts a message of BYTES as sent, and sets the header of its first packet. */
void acclib_message_begin(struct packet_header *header, struct packet_channel_state *state,
                          uint64_t key, const struct packet_message *message, uint32_t wire_type,
                          uint64_t bytes, uint32_t segments, uint32_t numbers);

/* Completes the header of a packet to packet->rank of packet->bytes that leaves next. */
void acclib_packet_seal(const accl_device *device, struct packet *packet);

/* Queues the packet for sending, or drops it if this rank has left. False if it is NULL: it could
 * not be made. */
bool acclib_packet_put(accl_device *device, struct packet *packet);

/* The same for data that have no header. */
void acclib_packet_queue(accl_device *device, struct packet *packet);

/* Takes the first queued packet off its list; NULL if there is none. */
struct list_node *acclib_packet_pop(accl_device *device);

/* Queues a packet without payload. False if out of memory. */
bool acclib_packet_put_plain(accl_device *device, uint32_t rank, enum packet_kind kind,
                             uint32_t channel, uint64_t id, uint64_t key);

/* Frees packets, and a message with its parts. With or without the lock. */
void acclib_packets_free(struct list *packets);
void acclib_incoming_free(struct incoming *incoming);

/* Takes a message off its list. */
void acclib_incoming_unlink(struct packet_channel_state *state, struct incoming *incoming);

/* SEGMENTS of what RANK has sent are received: as many rx buffers are free again. */
void acclib_packet_consumed(accl_device *device, uint32_t rank, uint32_t channel,
                            uint32_t segments);
/* The same for a whole message. */
void acclib_incoming_consumed(accl_device *device, uint32_t rank, const struct incoming *incoming);

#endif
