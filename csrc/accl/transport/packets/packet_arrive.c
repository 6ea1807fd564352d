/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an arriving packet does. Nothing in it is believed: a packet that breaks the rules changes
 * nothing, and its sender counts as lost.
 */
#include "accl/transport/packets/packets.h"

#include <stdlib.h>

#define GAVE_UP_MAX 4096

void incoming_unlink(struct packet_channel_state *state, struct incoming *incoming)
{
    struct incoming **link = &state->first;
    while (*link != incoming)
        link = &(*link)->next;
    *link = incoming->next;
    if (!*link)
        state->end = link;
    if (state->partial == incoming)
        state->partial = NULL;
}

void incoming_consumed(accl_device *device, uint32_t rank, const struct incoming *incoming)
{
    uint32_t channel = incoming->header.channel;
    struct packet_channel_state *state = &device->packets->links[rank].channel[channel];
    state->consumed += incoming->header.segments;
    if (state->wants_count)
        packet_put_plain(device, rank, PACKET_ACK, channel, 0, 0);
}

static const char *greet(accl_device *device, struct packet_link *link,
                         const struct packet_header *h)
{
    if (link->greeted)
        return "a second greeting";
    if (h->key != device->packets->list_key || h->tag != device->ranks)
        return "another list of ranks than here";
    link->greeted = true;
    link->slot_count = h->segments;
    link->slot_bytes = h->total;
    return NULL;
}

static void add_part(struct incoming *m, struct parcel_post *post)
{
    post->next = NULL;
    post->taken = sizeof(struct packet_header);
    *m->parts_end = post;
    m->parts_end = &post->next;
}

static const char *begin_message(accl_device *device, struct packet_channel_state *state,
                                 struct parcel_post *post, bool *kept)
{
    const struct packet_header *h = packet_header_of(post);
    uint64_t limit = h->channel == CHANNEL_USER ? device->rx_count : COLLECTIVE_WINDOW;
    uint64_t largest =
        h->channel == CHANNEL_USER ? h->segments * device->rx_bytes : COLLECTIVE_EAGER;
    bool asked = h->kind == PACKET_REQUEST;
    if (h->id != state->next_id || state->partial)
        return "a message out of order";
    if (h->segments > limit || state->came - state->consumed > limit - h->segments)
        return "a message that there is no room for";
    if (asked ? h->segments != 1 : h->total > largest)
        return "a message of a wrong length";
    if (h->payload % dtype_bytes(h->wire_type) || (!asked && !h->payload && h->total))
        return "a part of an element";
    struct incoming *m = calloc(1, sizeof *m);
    if (!m)
        return "no memory to be kept in";
    m->header = *h;
    m->asked = asked;
    m->have = h->payload;
    m->parts_end = &m->parts;
    if (h->payload) {
        add_part(m, post);
        *kept = true;
    }
    *state->end = m;
    state->end = &m->next;
    state->next_id++;
    state->came += h->segments;
    state->wants_count = false;
    if (!asked && m->have < h->total)
        state->partial = m;
    return NULL;
}

static struct incoming *find_message(const struct packet_channel_state *state, uint64_t id)
{
    struct incoming *m = state->first;
    while (m && m->header.id != id)
        m = m->next;
    return m;
}

static const char *continue_message(accl_device *device, uint32_t rank,
                                    struct packet_channel_state *state, struct parcel_post *post,
                                    bool *kept)
{
    const struct packet_header *h = packet_header_of(post);
    struct incoming *m = find_message(state, h->id);
    if (!m || (m->asked && !m->granted) || m->cancelled)
        return "data of no message";
    if (h->offset != m->have || h->payload > m->header.total - m->have)
        return "data that is not next";
    if (h->payload % dtype_bytes(m->header.wire_type))
        return "a part of an element";
    m->have += h->payload;
    bool complete = m->have == m->header.total;
    if (complete && state->partial == m)
        state->partial = NULL;
    if (!m->discarded) {
        add_part(m, post);
        *kept = true;
    } else if (complete) {
        incoming_unlink(state, m);
        incoming_consumed(device, rank, m);
        incoming_free(m);
    }
    return NULL;
}

static const char *answered(struct packet_channel_state *state, const struct packet_header *h)
{
    if (state->requested == h->id && h->id) {
        state->granted = h->kind == PACKET_GRANT;
        state->dropped = h->kind == PACKET_DROP;
        state->refused = state->dropped && h->tag == DROP_NO_MEMORY;
    } else if (h->id < 1 || h->id > state->last_id) {
        return "an answer to nothing";
    }
    /* Else to what was cancelled in the meantime. */
    return NULL;
}

static const char *cancel(accl_device *device, uint32_t rank, struct packet_channel_state *state,
                          const struct packet_header *h)
{
    struct incoming *m = find_message(state, h->id);
    if (!m)
        return h->id < state->next_id ? NULL : "the end of no message";
    if (!m->asked)
        return "the end of a message that it may not end";
    if (m->granted && !m->discarded) {
        m->cancelled = true; /* somebody is at it */
        return NULL;
    }
    incoming_unlink(state, m);
    incoming_consumed(device, rank, m);
    incoming_free(m);
    return NULL;
}

static const char *note_gave_up(struct packets *p, uint32_t rank, const struct packet_header *h)
{
    uint64_t key = h->key;
    uint32_t n = 0;
    for (const struct gave_up *g = p->gave_up; g; g = g->next, n++)
        if (g->rank == rank && g->key == key)
            return NULL;
    struct gave_up *g = n < GAVE_UP_MAX ? malloc(sizeof *g) : NULL;
    if (!g)
        return "no room to be noted in";
    *g = (struct gave_up){
        .next = p->gave_up,
        .key = key,
        .rank = rank,
        .told = {.number = h->tag, .note = h->call, .signature = h->sequence},
    };
    p->gave_up = g;
    return NULL;
}

static const char *handle(accl_device *device, uint32_t rank, struct parcel_post *post, bool *kept)
{
    struct packets *p = device->packets;
    struct packet_link *link = &p->links[rank];
    const struct packet_header *h = packet_header_of(post);
    const char *flaw = packet_flaw(h, post->bytes, rank);
    if (flaw)
        return flaw;
    if (link->left)
        return "something to say after its end";
    if (!link->greeted && h->kind != PACKET_HELLO)
        return "no greeting before it";
    for (uint32_t c = 0; c < CHANNELS; c++)
        if (h->consumed[c] < link->channel[c].acknowledged ||
            h->consumed[c] > link->channel[c].sent)
            return "wrong counts";
    for (uint32_t c = 0; c < CHANNELS; c++)
        link->channel[c].acknowledged = h->consumed[c];
    struct packet_channel_state *state = &link->channel[h->channel];
    switch (h->kind) {
    case PACKET_HELLO: return greet(device, link, h);
    case PACKET_EAGER:
    case PACKET_REQUEST: return begin_message(device, state, post, kept);
    case PACKET_DATA: return continue_message(device, rank, state, post, kept);
    case PACKET_GRANT:
    case PACKET_DROP: return answered(state, h);
    case PACKET_CANCEL: return cancel(device, rank, state, h);
    case PACKET_PROBE:
        state->wants_count = true;
        packet_put_plain(device, rank, PACKET_ACK, h->channel, 0, 0);
        return NULL;
    case PACKET_GAVE_UP: return note_gave_up(p, rank, h);
    case PACKET_BYE: link->left = true; return NULL;
    default: return NULL;
    }
}

const char *packet_handle(accl_device *device, uint32_t rank, struct parcel_post *post)
{
    bool kept = false;
    const char *flaw = handle(device, rank, post, &kept);
    if (!kept)
        free(post);
    return flaw;
}
