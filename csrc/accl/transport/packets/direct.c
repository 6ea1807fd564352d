/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/direct.h"

#include <stdio.h>
#include <stdlib.h>

#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/ticket.h"

/* Between hosts the announcement takes longer. */
#define FAR_LEAST (UINT64_C(128) << 10)
/* Time that a sender waits for a posted receive: about as long as copying would take. */
#define PATIENCE_NS INT64_C(10000)
#define PATIENCE_BYTES_PER_NS 4
/* Data that take longer than a wait for short ones lasts before it naps. */
#define LONG_DATA ((uint64_t)256 << 10)
/* Time that a receive whose time is over waits for data that are on their way. */
#define GRACE_NS (2 * CLOCK_SECOND)

bool acclib_direct_suits(const accl_device *device, uint32_t rank, const void *data, uint64_t bytes)
{
    const struct heap *heap = device->heap;
    const uint8_t *first = data;
    uint64_t least = device->packets->links[rank].far ? FAR_LEAST : DIRECT_LEAST;
    return bytes >= least && bytes <= DIRECT_MOST && first >= heap->base &&
           first < heap->base + heap->bytes && acclib_carrier_is_mine(device);
}

static struct direct_name name_of(const struct packet_request *w, uint32_t wire_type,
                                  uint64_t bytes)
{
    return (struct direct_name){.key = w->comm->key,
                                .at = w->message->at,
                                .bytes = bytes,
                                .tag = w->message->tag,
                                .sequence = w->message->sequence,
                                .wire_type = wire_type};
}

static struct packet_header header_of(const struct packet_request *w, enum packet_kind kind,
                                      const struct direct_name *name)
{
    return (struct packet_header){.kind = (uint8_t)kind,
                                  .channel = (uint8_t)w->message->channel,
                                  .wire_type = (uint8_t)name->wire_type,
                                  .key = name->key,
                                  .total = name->bytes,
                                  .offset = name->at,
                                  .tag = name->tag,
                                  .sequence = name->sequence};
}

/* --- receiving --- */

/* True if a message of the communicator is here, or on its way. */
static bool has_any(const struct packet_request *w)
{
    struct list_node *at = w->state->messages.first;
    while (at != NULL && incoming_of(at)->header.key != w->comm->key)
        at = at->next;
    return at != NULL;
}

void acclib_direct_expect(struct packet_request *w, uint8_t *data, uint32_t wire_type,
                          uint64_t bytes)
{
    /* Messages for any receive go to the first. */
    if (w->message->channel == CHANNEL_USER && !acclib_ticket_is_first_receive(w->device))
        return;

    w->is_long = bytes >= LONG_DATA;
    struct posted *posted = calloc(1, sizeof *posted);
    if (posted == NULL)
        return;

    *posted = (struct posted){.name = name_of(w, wire_type, bytes), .data = data};
    struct packet_header header = header_of(w, PACKET_READY, &posted->name);
    struct packet *packet = acclib_packet_make(w->device, w->rank, header, 0);
    request_lock(w);
    bool good = packet != NULL && w->link->greeted && !w->link->lost && !has_any(w) &&
                direct_names(&w->state->posted) < DIRECT_NAMES_MOST;
    struct posted *before = good ? acclib_direct_posted(w->state, &posted->name) : NULL;
    if (before != NULL) { /* the sender was told in an earlier attempt */
        list_remove(&w->state->posted, &before->in_channel);
        free(before);
    }
    if (good) {
        list_append(&w->state->posted, &posted->in_channel);
        acclib_packet_put(w->device, packet);
        w->posted = posted;
    }
    request_unlock(w);

    if (!good) {
        acclib_packet_free(packet);
        free(posted);
    }
}

void acclib_direct_forget(struct packet_request *w)
{
    if (w->posted == NULL)
        return;
    list_remove(&w->state->posted, &w->posted->in_channel);
    free(w->posted);
    w->posted = NULL;
}

static bool has_ended(struct packet_request *w)
{
    return w->posted->incoming == NULL || w->link->lost;
}

void acclib_direct_withdraw(struct packet_request *w)
{
    if (w->posted == NULL)
        return;

    request_lock(w);
    struct incoming *m = w->posted->incoming;
    if (m == NULL) {
        /* The sender may still announce it. */
        w->posted->data = NULL;
        w->posted = NULL;
        request_unlock(w);
        return;
    }

    m->discarded = true;
    if (m->have == m->header.total) {
        acclib_incoming_unlink(w->state, m);
        acclib_incoming_consumed(w->device, w->rank, m);
        acclib_incoming_free(m);
        acclib_direct_forget(w);
        request_unlock(w);
        return;
    }
    request_unlock(w);

    int64_t until = clock_now() + GRACE_NS;
    bool ended = false;
    while (!ended && clock_now() < until) {
        acclib_carrier_turn(w->device);
        request_lock(w);
        ended = has_ended(w);
        request_unlock(w);
    }

    request_lock(w);
    if (!ended && !w->link->lost) {
        w->link->lost = true;
        snprintf(w->link->why, sizeof w->link->why, "a message of it did not end");
    }
    acclib_direct_forget(w);
    request_unlock(w);
}

/* --- sending --- */

static bool is_ready_or_late(struct packet_request *w)
{
    uint64_t limit = w->message->channel == CHANNEL_USER ? w->link->slot_count : COLLECTIVE_WINDOW;
    if (w->state->sent - w->state->acknowledged < limit)
        w->claimed = acclib_direct_claim(w->state, w->message->channel, w->name);
    return w->claimed || w->link->lost || clock_now() >= w->until;
}

static bool has_left(struct packet_request *w)
{
    return w->left;
}

static uint32_t no_memory(const struct packet_request *w)
{
    return acclib_call_fail(w->device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (packets)");
}

/* Queues the announcement and the data. With the lock held; NULL if out of memory. */
static struct packet *put(struct packet_request *w, const uint8_t *data, uint32_t numbers)
{
    struct packets *p = w->device->packets;
    struct packet_header header = header_of(w, PACKET_DIRECT, w->name);
    header.segments = 1;
    header.id = w->state->last_id + 1;
    header.numbers = numbers;
    header.call = w->message->call;
    struct packet *packet = acclib_packet_new(&p->pool, 0);
    struct packet *announcement = acclib_packet_make(w->device, w->rank, header, 0);
    if (packet == NULL || announcement == NULL) {
        acclib_packet_free(packet);
        acclib_packet_free(announcement);
        return NULL;
    }

    w->state->probed = false;
    w->state->sent++;
    w->state->last_id++;
    acclib_packet_put(w->device, announcement);

    packet->rank = w->rank;
    packet->bytes = w->name->bytes;
    packet->lent = (void *)(uintptr_t)data;
    packet->heap = acclib_heap_share(w->device->heap);
    packet->left = &w->left;
    acclib_packet_queue(w->device, packet);

    return packet;
}

uint32_t acclib_direct_begin(struct packet_request *w, const uint8_t *data, uint32_t wire_type,
                             uint64_t bytes, bool patient, uint32_t numbers, bool *sent)
{
    struct direct_name name = name_of(w, wire_type, bytes);
    w->name = &name;
    w->claimed = w->left = *sent = false;
    w->is_long = bytes >= LONG_DATA;
    w->until = patient ? clock_now() + PATIENCE_NS + (int64_t)(bytes / PATIENCE_BYTES_PER_NS) : 0;
    uint32_t bits = acclib_packet_request_wait(w, is_ready_or_late);
    if (bits)
        return bits;

    w->lent = w->claimed ? put(w, data, numbers) : NULL;
    w->lent_id = w->state->last_id;
    w->name = NULL;
    request_unlock(w);
    if (!w->claimed)
        return 0;
    if (w->lent == NULL)
        return no_memory(w);

    *sent = true;
    return 0;
}

void acclib_direct_drop(struct packet_request *w)
{
    request_lock(w);
    if (!w->left) {
        /* Data that MPI takes from here on are not to be believed. */
        w->lent->left = NULL;
        acclib_packet_put_plain(w->device, w->rank, PACKET_CANCEL, w->message->channel, w->lent_id,
                                w->comm->key);
    }
    request_unlock(w);
}

uint32_t acclib_direct_end(struct packet_request *w)
{
    uint32_t bits = acclib_packet_request_wait(w, has_left);
    if (bits)
        acclib_direct_drop(w);
    else
        request_unlock(w);
    return bits;
}
