/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/queue.h"

#include <stdlib.h>
#include <string.h>

void acclib_packets_free(struct list *packets)
{
    struct list_node *node;
    while ((node = list_pop(packets)) != NULL)
        acclib_packet_free(packet_of(node));
}

void acclib_incoming_free(struct incoming *incoming)
{
    acclib_packets_free(&incoming->parts);
    free(incoming->room);
    free(incoming);
}

/* Fills the fields that every header has. */
static void sign(const accl_device *device, struct packet_header *header, uint64_t payload)
{
    header->magic = PACKET_MAGIC;
    header->version = PACKET_VERSION;
    header->from = device->rank;
    header->payload = (uint32_t)payload;
}

/* Writes the counts of consumed messages, which go with every packet. */
static void write_counts(const accl_device *device, struct packet *packet)
{
    struct packet_link *link = &device->packets->links[packet->rank];
    for (uint32_t c = 0; c < CHANNELS; c++) {
        packet_header_of(packet)->consumed[c] = link->channel[c].consumed;
        link->channel[c].told = link->channel[c].consumed;
    }
}

struct packet *acclib_packet_make(const accl_device *device, uint32_t rank,
                                  struct packet_header header, uint64_t payload)
{
    struct packet *packet = acclib_packet_new(&device->packets->pool, sizeof header + payload);
    if (packet == NULL)
        return NULL;

    packet->rank = rank;
    sign(device, &header, payload);
    memcpy(packet->data, &header, sizeof header);
    return packet;
}

void acclib_message_begin(struct packet_header *header, struct packet_channel_state *state,
                          uint64_t key, const struct packet_message *message, uint32_t wire_type,
                          uint64_t bytes, uint32_t segments, uint32_t numbers)
{
    state->probed = false;
    state->sent += segments;
    *header = (struct packet_header){.kind = PACKET_EAGER,
                                     .channel = (uint8_t)message->channel,
                                     .wire_type = (uint8_t)wire_type,
                                     .segments = segments,
                                     .id = ++state->last_id,
                                     .key = key,
                                     .total = bytes,
                                     .tag = message->tag,
                                     .sequence = message->sequence,
                                     .numbers = numbers,
                                     .stream = message->stream,
                                     .call = message->call};
}

void acclib_packet_seal(const accl_device *device, struct packet *packet)
{
    struct packet_header *header = packet_header_of(packet);
    sign(device, header, packet->bytes - sizeof *header);
    write_counts(device, packet);
}

void acclib_packet_queue(accl_device *device, struct packet *packet)
{
    struct packets *p = device->packets;
    packet->id = ++p->next_id;
    list_append(&p->out, &packet->in_list);
    atomic_fetch_add(&p->outstanding, 1);
    atomic_store_explicit(&p->queued, p->queued + 1, memory_order_relaxed);
    atomic_fetch_add(&p->out_bytes, packet->bytes);
    pthread_cond_broadcast(&p->changed);
}

struct list_node *acclib_packet_pop(accl_device *device)
{
    struct packets *p = device->packets;
    struct list_node *node = list_pop(&p->out);
    if (node != NULL)
        atomic_store_explicit(&p->queued, p->queued - 1, memory_order_relaxed);
    return node;
}

bool acclib_packet_put(accl_device *device, struct packet *packet)
{
    struct packets *p = device->packets;
    if (packet == NULL)
        return false;
    /* Only answers come here, and the other side takes any packet after the last for an error. */
    if (p->has_left) {
        acclib_packet_free(packet);
        return true;
    }

    write_counts(device, packet);
    acclib_packet_queue(device, packet);
    return true;
}

bool acclib_packet_put_plain(accl_device *device, uint32_t rank, enum packet_kind kind,
                             uint32_t channel, uint64_t id, uint64_t key)
{
    struct packet_header header = {
        .kind = (uint8_t)kind, .channel = (uint8_t)channel, .id = id, .key = key};
    return acclib_packet_put(device, acclib_packet_make(device, rank, header, 0));
}

void acclib_incoming_unlink(struct packet_channel_state *state, struct incoming *incoming)
{
    list_remove(&state->messages, &incoming->in_channel);
    if (state->partial == incoming)
        state->partial = NULL;
}

void acclib_packet_consumed(accl_device *device, uint32_t rank, uint32_t channel, uint32_t segments)
{
    const struct packet_link *link = &device->packets->links[rank];
    struct packet_channel_state *state = &device->packets->links[rank].channel[channel];
    uint64_t limit = channel == CHANNEL_USER ? device->rx_count : COLLECTIVE_WINDOW;

    /* A rank that sends on gets its credit before it has to ask. */
    state->consumed += segments;
    bool is_late = state->consumed - state->told > limit / 2;
    if (state->wants_count || (is_late && !link->left && !link->lost))
        acclib_packet_put_plain(device, rank, PACKET_ACK, channel, 0, 0);
}

void acclib_incoming_consumed(accl_device *device, uint32_t rank, const struct incoming *incoming)
{
    const struct packet_header *h = &incoming->header;
    acclib_packet_consumed(device, rank, h->channel, h->segments);
}
