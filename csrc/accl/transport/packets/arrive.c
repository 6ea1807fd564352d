/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/arrive.h"

#include <stdlib.h>

#include "accl/arithmetic/dtype.h"
#include "accl/transport/packets/direct_names.h"
#include "accl/transport/packets/queue.h"

#define GAVE_UP_MAX 4096

static const char *greet(accl_device *device, struct packet_link *link,
                         const struct packet_header *h)
{
    if (link->greeted)
        return "a second greeting";
    if (h->key != device->packets->list_key || h->tag != device->ranks)
        return "a different list of ranks";

    link->greeted = true;
    link->slot_count = h->segments;
    link->slot_bytes = h->total;

    return NULL;
}

static void add_part(struct incoming *m, struct packet *packet)
{
    packet->taken = sizeof(struct packet_header);
    list_append(&m->parts, &packet->in_list);
}

/* Segments that a rank may send before some are consumed. */
static uint64_t window_of(const accl_device *device, uint32_t channel)
{
    return channel == CHANNEL_USER ? device->rx_count : COLLECTIVE_WINDOW;
}

/* Returns the flaw of a message's first packet, or NULL. */
static const char *flaw_of_first(const accl_device *device,
                                 const struct packet_channel_state *state,
                                 const struct packet_header *h)
{
    uint64_t limit = window_of(device, h->channel);
    uint64_t largest =
        h->channel == CHANNEL_USER ? h->segments * device->rx_bytes : COLLECTIVE_EAGER;
    bool rendezvous = h->kind == PACKET_RTS;

    if (h->id != state->next_id || state->partial != NULL)
        return "a message out of order";
    if (h->segments > limit || state->came - state->consumed > limit - h->segments)
        return "a message that exceeds the receive window";
    if (rendezvous ? h->segments != 1 : h->total > largest)
        return "a message of an invalid length";
    if (h->payload % acclib_dtype_bytes(h->wire_type) || (!rendezvous && !h->payload && h->total))
        return "an incomplete element";

    return NULL;
}

static void count_message(struct packet_channel_state *state, const struct packet_header *h)
{
    state->next_id++;
    state->came += h->segments;
    state->wants_count = false;
}

static const char *begin_message(accl_device *device, struct packet_channel_state *state,
                                 struct packet *packet, bool *kept)
{
    const struct packet_header *h = packet_header_of(packet);
    bool rendezvous = h->kind == PACKET_RTS;
    const char *flaw = flaw_of_first(device, state, h);
    if (flaw != NULL)
        return flaw;

    /* Not calloc(), which is slower than what the C library keeps for malloc(). */
    struct incoming *m = malloc(sizeof *m);
    if (m == NULL)
        return "out of memory (message)";

    *m = (struct incoming){.header = *h, .rendezvous = rendezvous, .have = h->payload};
    if (h->payload) {
        add_part(m, packet);
        *kept = true;
    }

    list_append(&state->messages, &m->in_channel);
    count_message(state, h);
    if (!rendezvous && m->have < h->total)
        state->partial = m;

    return NULL;
}

static struct incoming *find_message(const struct packet_channel_state *state, uint64_t id)
{
    struct list_node *at = state->messages.first;
    while (at != NULL && incoming_of(at)->header.id != id)
        at = at->next;
    return at != NULL ? incoming_of(at) : NULL;
}

static const char *continue_message(accl_device *device, uint32_t rank,
                                    struct packet_channel_state *state, struct packet *packet,
                                    bool *kept)
{
    const struct packet_header *h = packet_header_of(packet);
    struct incoming *m = find_message(state, h->id);
    if (m == NULL || (m->rendezvous && !m->cleared) || m->cancelled)
        return "data that belongs to no message";
    if (h->offset != m->have || h->payload > m->header.total - m->have)
        return "data out of order";
    if (h->payload % acclib_dtype_bytes(m->header.wire_type))
        return "an incomplete element";

    m->have += h->payload;
    bool complete = m->have == m->header.total;
    if (complete && state->partial == m)
        state->partial = NULL;
    if (!m->discarded && h->payload) {
        add_part(m, packet);
        *kept = true;
    } else if (m->discarded && complete) {
        acclib_incoming_unlink(state, m);
        acclib_incoming_consumed(device, rank, m);
        acclib_incoming_free(m);
    }

    return NULL;
}

static const char *answered(struct packet_channel_state *state, const struct packet_header *h)
{
    if (state->requested == h->id && h->id) {
        state->cleared = h->kind == PACKET_CTS;
        state->dropped = h->kind == PACKET_DROP;
        state->refused = state->dropped && h->tag == DROP_NO_MEMORY;
    } else if (h->id < 1 || h->id > state->last_id) {
        return "an answer without a request";
    }

    /* Otherwise the request was cancelled meanwhile. */
    return NULL;
}

static const char *cancel(accl_device *device, uint32_t rank, struct packet_channel_state *state,
                          const struct packet_header *h)
{
    struct incoming *m = find_message(state, h->id);
    if (m == NULL)
        return h->id < state->next_id ? NULL : "a cancellation of no message";
    if (!m->rendezvous && !m->direct)
        return "a cancellation of a message that was sent eagerly";
    if (m->direct && m->have < m->header.total) {
        m->cancelled = true; /* its data are on their way */
        return NULL;
    }
    if (m->cleared && !m->discarded) {
        m->cancelled = true; /* a receive is collecting it */
        return NULL;
    }

    acclib_incoming_unlink(state, m);
    acclib_incoming_consumed(device, rank, m);
    acclib_incoming_free(m);

    return NULL;
}

static const char *note_gave_up(struct packets *p, uint32_t rank, const struct packet_header *h)
{
    uint32_t n = 0;
    for (struct list_node *at = p->gave_up.first; at != NULL; at = at->next, n++)
        if (gave_up_of(at)->rank == rank && gave_up_of(at)->key == h->key)
            return NULL;

    struct gave_up *g = n < GAVE_UP_MAX ? malloc(sizeof *g) : NULL;
    if (g == NULL)
        return "out of memory (note)";

    *g = (struct gave_up){
        .key = h->key,
        .rank = rank,
        .told = packet_told(h),
    };
    list_prepend(&p->gave_up, &g->in_packets);
    atomic_fetch_add(&p->failures, 1);

    return NULL;
}

/* False if the counts are invalid. */
static bool note_consumed(struct packet_link *link, const struct packet_header *h)
{
    for (uint32_t c = 0; c < CHANNELS; c++)
        if (h->consumed[c] < link->channel[c].acknowledged ||
            h->consumed[c] > link->channel[c].sent)
            return false;
    for (uint32_t c = 0; c < CHANNELS; c++)
        link->channel[c].acknowledged = h->consumed[c];

    return true;
}

/* Returns the flaw of a packet of any kind, or NULL; records what its sender has consumed. */
static const char *check(struct packet_link *link, const struct packet_header *h, uint64_t bytes,
                         uint32_t rank)
{
    const char *flaw = acclib_packet_flaw(h, bytes, rank);

    if (flaw != NULL)
        return flaw;
    if (link->left)
        return "data after its last packet";
    if (!link->greeted && h->kind != PACKET_HELLO)
        return "no greeting before it";

    return note_consumed(link, h) ? NULL : "invalid counts";
}

static const char *handle(accl_device *device, uint32_t rank, struct packet *packet, bool *kept)
{
    struct packets *p = device->packets;
    struct packet_link *link = &p->links[rank];
    const struct packet_header *h = packet_header_of(packet);
    const char *flaw = check(link, h, packet->bytes, rank);
    if (flaw != NULL)
        return flaw;

    struct packet_channel_state *state = &link->channel[h->channel];
    switch (h->kind) {
    case PACKET_HELLO: return greet(device, link, h);
    case PACKET_EAGER:
    case PACKET_RTS: return begin_message(device, state, packet, kept);
    case PACKET_DATA: return continue_message(device, rank, state, packet, kept);
    case PACKET_CTS:
    case PACKET_DROP: return answered(state, h);
    case PACKET_CANCEL: return cancel(device, rank, state, h);
    case PACKET_PROBE:
        state->wants_count = true;
        acclib_packet_put_plain(device, rank, PACKET_ACK, h->channel, 0, 0);
        return NULL;
    case PACKET_GAVE_UP: return note_gave_up(p, rank, h);
    case PACKET_BYE: link->left = true; return NULL;
    case PACKET_READY: return acclib_direct_ready(state, h);
    case PACKET_DIRECT: return acclib_direct_announced(device, rank, state, h);
    default: return NULL;
    }
}

const char *acclib_packet_handle(accl_device *device, uint32_t rank, struct packet *packet,
                                 bool *kept)
{
    *kept = false;
    return handle(device, rank, packet, kept);
}

/* True if H is the one header that the message A can have, so that no rule is broken. */
static bool is_awaited(const accl_device *device, const struct packet_link *link,
                       const struct awaited *a, const struct packet_header *h)
{
    const struct packet_message *m = a->message;
    const struct packet_channel_state *state = &link->channel[m->channel];
    return h->magic == PACKET_MAGIC && h->version == PACKET_VERSION && h->kind == PACKET_EAGER &&
           h->channel == m->channel && h->wire_type == a->wire_type && h->from == a->rank &&
           h->segments == 1 && h->id == state->next_id && h->key == a->key &&
           h->total == a->bytes && h->payload == a->bytes && !h->offset && h->tag == m->tag &&
           (h->sequence == m->sequence || m->channel == CHANNEL_USER) && !h->stream &&
           state->partial == NULL && state->came - state->consumed < window_of(device, m->channel);
}

bool acclib_packet_catch(accl_device *device, const struct packet_header *h, struct awaited *a)
{
    struct packet_link *link = &device->packets->links[a->rank];
    if (!link->greeted || link->left || link->lost || !is_awaited(device, link, a, h) ||
        !note_consumed(link, h))
        return false;

    count_message(&link->channel[h->channel], h);
    acclib_packet_consumed(device, a->rank, h->channel, 1);
    a->numbers = h->numbers;
    return true;
}
