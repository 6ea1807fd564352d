/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/receive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/carrier_short.h"
#include "accl/transport/packets/direct.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/ticket.h"

struct place {
    uint8_t *data;
    uint32_t type, wire_type;
    uint64_t count, filled;
};

/* Copies parts to their place, and frees them. */
static void fill(struct place *place, struct list *parts)
{
    size_t wire = acclib_dtype_bytes(place->wire_type), size = acclib_dtype_bytes(place->type);
    struct list_node *node;
    while ((node = list_pop(parts)) != NULL) {
        struct packet *part = packet_of(node);
        uint64_t n = (part->bytes - part->taken) / wire;
        acclib_convert(place->data + place->filled * size, place->type, part->data + part->taken,
                       place->wire_type, n, false);
        place->filled += n;
        acclib_packet_free(part);
    }
}

static bool tag_matches(const struct packet_request *w, const struct packet_header *h)
{
    return w->message->channel == CHANNEL_COLLECTIVE || h->tag == w->message->tag ||
           h->tag == ACCL_TAG_ANY || w->message->tag == ACCL_TAG_ANY;
}

static bool has_message(struct packet_request *w)
{
    struct incoming *m = NULL;
    struct list_node *at = w->state->messages.first;
    for (; at != NULL; at = at->next) {
        m = incoming_of(at);
        if (m->header.key == w->comm->key && !m->header.stream && !m->discarded)
            break;
    }

    bool here =
        at != NULL && tag_matches(w, &m->header) && (m->rendezvous || m->have == m->header.total);
    if (here && w->message->channel == CHANNEL_USER && m->header.tag == ACCL_TAG_ANY)
        here = acclib_ticket_is_first_receive(w->device);
    /* In the memory of another call. */
    if (here && m->direct && list_is_empty(&m->parts))
        here = w->posted != NULL && w->posted->incoming == m;
    w->found = here ? m : NULL;
    return here;
}

static bool has_parts(struct packet_request *w)
{
    return !list_is_empty(&w->found->parts) || w->found->cancelled ||
           w->found->have == w->found->header.total;
}

static void finish(struct packet_request *w, struct incoming *m)
{
    acclib_incoming_unlink(w->state, m);
    acclib_incoming_consumed(w->device, w->rank, m);
}

/* A rendezvous message after its CTS: 0, error bits, or *AGAIN if its sender gave it up. */
static uint32_t collect(struct packet_request *w, struct place *place, bool *again)
{
    struct incoming *m = w->found;
    while (place->filled < place->count) {
        uint32_t bits = acclib_packet_request_wait(w, has_parts);
        if (bits) {
            request_lock(w);
            m->discarded = true;
            if (m->cancelled || m->have == m->header.total) {
                finish(w, m);
                acclib_incoming_free(m);
            }
            request_unlock(w);
            return bits;
        }
        if (m->cancelled) {
            *again = true;
            break;
        }

        struct list parts = list_take_all(&m->parts);
        request_unlock(w);
        fill(place, &parts);
    }

    if (!*again)
        request_lock(w);
    finish(w, m);
    request_unlock(w);
    acclib_incoming_free(m);

    return 0;
}

/* The other side called something else then or before. */
static uint32_t call_differs(const struct packet_request *w, const struct packet_header *h)
{
    struct call_told told = packet_told(h);
    uint32_t bits = acclib_call_compare(w->device, w->comm, w->index, &told);
    if (bits)
        return bits;

    uint32_t operation = call_note_operation(call_note(w->comm, w->comm->current));
    char own[CALL_HERE_BYTES];
    return acclib_call_fail(
        w->device, ACCL_ERROR(CALL_MISMATCH_ERROR),
        "%s on communicator %u (collective call %u): rank %u, at its collective "
        "call %u, has another count, element type or function there%s, or made a "
        "call before that differs",
        acclib_operation_name(operation), w->comm->id, w->message->tag, w->index, h->tag,
        acclib_call_here(w->device, own));
}

static uint32_t mismatch(struct packet_request *w, const struct packet_header *h,
                         const struct place *place)
{
    if (w->message->channel == CHANNEL_COLLECTIVE)
        return call_differs(w, h);

    struct message_shape shape = {
        .type = h->wire_type, .bytes = h->total, .tag = h->tag, .sequence = h->sequence};

    return acclib_transport_mismatch(w->device, &shape, place->wire_type, place->count);
}

/* True if the message that was found is the one that the call wants. */
static bool is_wanted(const struct packet_request *w, uint32_t wire_type, uint64_t count)
{
    const struct packet_header *h = &w->found->header;
    bool fits = h->wire_type == wire_type && h->total == count * acclib_dtype_bytes(wire_type);
    if (w->message->channel == CHANNEL_COLLECTIVE)
        fits = fits && h->tag == w->message->tag && h->sequence == w->message->sequence;
    return fits;
}

/* With the lock held, which it releases. */
static uint32_t take_message(struct packet_request *w, struct place *place, bool *again)
{
    struct incoming *m = w->found;
    const struct packet_header h = m->header;
    bool fits = is_wanted(w, place->wire_type, place->count);

    if (m->rendezvous && fits) {
        bool cleared =
            acclib_packet_put_plain(w->device, w->rank, PACKET_CTS, h.channel, h.id, h.key);
        m->cleared = cleared;
        request_unlock(w);
        /* Its sender would wait for the answer until its time is up. */
        if (!cleared)
            return acclib_call_fail(w->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                    "out of memory (packets)");
        return collect(w, place, again);
    }

    if (m->rendezvous)
        acclib_packet_put_plain(w->device, w->rank, PACKET_DROP, h.channel, h.id, h.key);
    finish(w, m);
    request_unlock(w);
    if (fits)
        fill(place, &m->parts);

    acclib_incoming_free(m);
    return fits ? 0 : mismatch(w, &h, place);
}

static uint32_t timed_out(struct packet_request *w)
{
    accl_device *device = w->device;
    char next[96] = "none of its messages is here";
    uint64_t held = 0;

    request_lock(w);
    for (struct list_node *at = w->state->messages.first; at != NULL; at = at->next) {
        const struct incoming *m = incoming_of(at);
        held += m->header.segments;
        if (m->header.key == w->comm->key && !m->header.stream && next[0] == 'n')
            snprintf(next, sizeof next, "its next message has tag %u, sequence %u, %llu bytes",
                     m->header.tag, m->header.sequence, (unsigned long long)m->header.total);
    }

    request_unlock(w);
    if (w->message->channel == CHANNEL_COLLECTIVE)
        return acclib_call_fail(device, w->timeout_bits,
                                "collective call %u on communicator %u: rank %u did not come "
                                "within the timeout of %u ms",
                                w->message->tag, w->comm->id, w->index, device->timeout_ms);
    uint32_t tag = w->message->tag;

    return acclib_call_fail(
        device, w->timeout_bits,
        "no message from rank %u of communicator %u with tag %s%u, sequence %u, in "
        "%u ms: %s; its messages hold %llu of %u rx buffers",
        w->index, w->comm->id, tag == ACCL_TAG_ANY ? "any " : "", tag, w->message->sequence,
        device->timeout_ms, next, (unsigned long long)held, device->rx_count);
}

uint32_t acclib_packets_receive(accl_device *device, struct communicator *comm, uint32_t from,
                                const struct packet_message *message, uint8_t *data, uint32_t type,
                                uint32_t wire_type, uint64_t count, uint32_t *numbers)
{
    struct packet_request w;
    struct place place = {.data = data, .type = type, .wire_type = wire_type, .count = count};
    uint32_t bits = 0;
    uint64_t bytes = count * acclib_dtype_bytes(wire_type);
    bool again = true;

    struct awaited a = {.message = message,
                        .key = comm->key,
                        .rank = comm->members[from].rank,
                        .type = type,
                        .wire_type = wire_type,
                        .data = data,
                        .count = count,
                        .bytes = bytes};
    *numbers = 0;
    if (bytes <= SHORT_BYTES && message->tag != ACCL_TAG_ANY && acclib_carrier_catch(device, &a)) {
        *numbers = a.numbers;
        return 0;
    }

    acclib_packet_request_make(&w, device, comm, from, message, ACCL_RECV,
                               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!bits && again) {
        again = false;
        place.filled = 0;
        if (type == wire_type && acclib_direct_suits(device, w.rank, data, bytes))
            acclib_direct_expect(&w, data, wire_type, bytes);
        bits = acclib_packet_request_wait(&w, has_message);
        if (bits) {
            acclib_direct_withdraw(&w);
        } else {
            acclib_direct_forget(&w);
            uint32_t taken = w.found->header.numbers;
            bits = take_message(&w, &place, &again);
            *numbers = again || (bits & ~ACCL_ERROR(DMA_SIZE_ERROR)) ? 0 : taken;
        }
    }

    if (bits == w.timeout_bits && !device->text[0])
        timed_out(&w);

    return bits;
}

uint32_t acclib_packets_take_next(struct packet_request *w, uint32_t wire_type, uint64_t count,
                                  uint64_t rest, struct incoming **taken)
{
    accl_device *device = w->device;
    *taken = NULL;
    uint32_t bits = acclib_packet_request_wait(w, has_message);
    if (bits) {
        acclib_direct_withdraw(w);
        if (bits == w->timeout_bits && !device->text[0])
            timed_out(w);
        return bits;
    }

    struct incoming *m = w->found;
    const struct packet_header h = m->header;
    bool fits = is_wanted(w, wire_type, m->direct ? rest : count) && !m->rendezvous &&
                (m->direct || h.total == h.payload);
    acclib_direct_forget(w);
    if (m->rendezvous)
        acclib_packet_put_plain(device, w->rank, PACKET_DROP, h.channel, h.id, h.key);
    finish(w, m);
    request_unlock(w);

    if (fits) {
        *taken = m;
        return 0;
    }
    acclib_incoming_free(m);
    return call_differs(w, &h);
}

uint32_t acclib_packets_take_whole(accl_device *device, struct communicator *comm, uint32_t from,
                                   const struct packet_message *message, uint32_t wire_type,
                                   uint64_t count, struct incoming **taken)
{
    struct packet_request w;
    acclib_packet_request_make(&w, device, comm, from, message, ACCL_RECV,
                               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    return acclib_packets_take_next(&w, wire_type, count, count, taken);
}

/* With the lock held: drops a stream put that there is no memory for, and has its reader told.
 * False if there is none to tell the sender either, which is tried again. */
static bool lose_put(accl_device *device, uint32_t rank, struct incoming *m)
{
    struct packet_header no = {.kind = PACKET_DROP,
                               .channel = CHANNEL_USER,
                               .id = m->header.id,
                               .key = m->header.key,
                               .tag = DROP_NO_MEMORY};
    if (!m->lost)
        acclib_stream_lose(&device->streams, &(struct stream_loss){.puts = 1,
                                                                   .cause = STREAM_LOST_NO_MEMORY,
                                                                   .stream = m->header.stream - 1,
                                                                   .source = rank,
                                                                   .bytes = m->header.total});
    m->lost = true;
    if (m->rendezvous && !acclib_packet_put(device, acclib_packet_make(device, rank, no, 0)))
        return false;

    acclib_incoming_unlink(&device->packets->links[rank].channel[CHANNEL_USER], m);
    acclib_incoming_consumed(device, rank, m);
    acclib_incoming_free(m);

    return true;
}

/* With the lock held: room for all of a stream put, before it may come. */
static bool make_room(struct incoming *m)
{
    if (m->room == NULL && !m->lost)
        m->room = acclib_stream_chunk_new(m->header.stream - 1, m->header.total);
    return m->room != NULL;
}

/* The first stream put of RANK that is to be delivered, off its list. */
static struct incoming *next_put(accl_device *device, uint32_t rank)
{
    struct packet_channel_state *state = &device->packets->links[rank].channel[CHANNEL_USER];
    struct list_node *next;
    for (struct list_node *at = state->messages.first; at != NULL; at = next) {
        struct incoming *m = incoming_of(at);
        next = at->next;
        if (!m->header.stream || m->discarded)
            continue;
        if (m->cancelled) {
            acclib_incoming_unlink(state, m);
            acclib_incoming_consumed(device, rank, m);
            acclib_incoming_free(m);
            return NULL;
        }
        if ((!m->rendezvous && m->have < m->header.total) ||
            !acclib_stream_has_room(&device->streams, m->header.total))
            return NULL;
        if (!make_room(m)) {
            if (!lose_put(device, rank, m))
                return NULL;
            continue;
        }
        if (m->rendezvous && !m->cleared)
            m->cleared = acclib_packet_put_plain(device, rank, PACKET_CTS, CHANNEL_USER,
                                                 m->header.id, m->header.key);
        if (m->have < m->header.total || (m->rendezvous && !m->cleared))
            return NULL;
        acclib_incoming_unlink(state, m);
        acclib_incoming_consumed(device, rank, m);
        return m;
    }

    return NULL;
}

void acclib_packets_progress(accl_device *device)
{
    struct packets *p = device->packets;
    acclib_carrier_turn(device);
    for (uint32_t i = 0; p != NULL && i < device->ranks; i++) {
        for (;;) {
            pthread_mutex_lock(&p->lock);
            struct incoming *m = next_put(device, i);
            pthread_mutex_unlock(&p->lock);
            if (m == NULL)
                break;
            struct place place = {.data = m->room->data,
                                  .type = ACCL_INT8,
                                  .wire_type = ACCL_INT8,
                                  .count = m->header.total};
            fill(&place, &m->parts);
            acclib_stream_give(&device->streams, m->room);
            m->room = NULL;
            acclib_incoming_free(m);
        }
    }
}

void acclib_packets_reset(accl_device *device)
{
    struct packets *p = device->packets;
    if (p == NULL)
        return;

    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct packet_channel_state *state = &p->links[i].channel[CHANNEL_USER];
        struct list_node *next;
        for (struct list_node *at = state->messages.first; at != NULL; at = next) {
            struct incoming *m = incoming_of(at);
            next = at->next;
            if (m->have < m->header.total && (m->cleared || !m->rendezvous)) {
                m->discarded = true; /* the rest of it is on its way */
                continue;
            }
            if (m->rendezvous && !m->cleared)
                acclib_packet_put_plain(device, i, PACKET_DROP, CHANNEL_USER, m->header.id,
                                        m->header.key);
            acclib_incoming_unlink(state, m);
            acclib_incoming_consumed(device, i, m);
            acclib_incoming_free(m);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

void acclib_packets_visit(accl_device *device, pending_visit visit, void *argument)
{
    struct packets *p = device->packets;
    if (p == NULL)
        return;

    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct list_node *at = p->links[i].channel[CHANNEL_USER].messages.first;
        for (; at != NULL; at = at->next) {
            const struct incoming *m = incoming_of(at);
            const struct packet_header *h = &m->header;
            if (m->discarded)
                continue;
            visit(argument, &(struct pending){.key = h->key,
                                              .source = i,
                                              .tag = h->tag,
                                              .sequence = h->sequence,
                                              .stream = h->stream,
                                              .bytes = h->total,
                                              .segments = m->rendezvous ? 1 : h->segments});
        }
    }
    pthread_mutex_unlock(&p->lock);
}
