/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/direct_names.h"

#include <stdlib.h>

#include "accl/transport/packets/queue.h"
#include "accl/transport/wake.h"

/* A receive of the other side that waits. */
struct ready {
    struct list_node in_channel;
    struct direct_name name;
};

static struct posted *posted_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct posted, in_channel);
}

static struct ready *ready_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct ready, in_channel);
}

static struct direct_name name_in(const struct packet_header *h)
{
    return (struct direct_name){.key = h->key,
                                .at = h->offset,
                                .bytes = h->total,
                                .tag = h->tag,
                                .sequence = h->sequence,
                                .wire_type = h->wire_type};
}

/* True if a message named SENT is the one that a receive named WANTED waits for. */
static bool matches(const struct direct_name *sent, const struct direct_name *wanted)
{
    return sent->key == wanted->key && sent->at == wanted->at && sent->bytes == wanted->bytes &&
           sent->sequence == wanted->sequence && sent->wire_type == wanted->wire_type &&
           (sent->tag == wanted->tag || sent->tag == ACCL_TAG_ANY || wanted->tag == ACCL_TAG_ANY);
}

/* --- receiving --- */

struct posted *acclib_direct_posted(const struct packet_channel_state *state,
                                    const struct direct_name *name)
{
    struct list_node *at = state->posted.first;
    while (at != NULL && (posted_of(at)->incoming != NULL || !matches(name, &posted_of(at)->name)))
        at = at->next;
    return at != NULL ? posted_of(at) : NULL;
}

const char *acclib_direct_announced(accl_device *device, uint32_t rank,
                                    struct packet_channel_state *state,
                                    const struct packet_header *h)
{
    struct direct_name name = name_in(h);
    struct posted *posted = acclib_direct_posted(state, &name);
    uint32_t limit = h->channel == CHANNEL_USER ? device->rx_count : COLLECTIVE_WINDOW;

    if (posted == NULL)
        return "a message that was not asked for";
    if (h->id != state->next_id || state->partial != NULL)
        return "a message out of order";
    if (h->segments != 1 || h->stream || state->came - state->consumed >= limit)
        return "a message that exceeds the receive window";

    /* Without a receive its memory is ours, and what it is of is checked later as of any other. */
    bool ours = posted->data == NULL;
    struct incoming *m = calloc(1, sizeof *m);
    struct packet *packet =
        m != NULL ? acclib_packet_new(&device->packets->pool, ours ? h->total : 0) : NULL;
    if (packet == NULL) {
        free(m);
        return "out of memory (message)";
    }

    m->header = *h;
    m->direct = true;
    packet->rank = rank;
    packet->bytes = h->total;
    packet->incoming = m;
    packet->lent = ours ? packet->data : posted->data;
    if (ours) {
        list_remove(&state->posted, &posted->in_channel);
        free(posted);
    } else {
        posted->incoming = m;
        packet->heap = acclib_heap_share(device->heap);
    }

    list_append(&device->packets->announced, &packet->in_list);
    list_append(&state->messages, &m->in_channel);
    state->next_id++;
    state->came++;
    state->wants_count = false;

    return NULL;
}

/* Of the receive whose memory the data of M are in; NULL if there is none. */
static struct posted *posted_for(const struct packet_channel_state *state, const struct incoming *m)
{
    struct list_node *at = state->posted.first;
    while (at != NULL && posted_of(at)->incoming != m)
        at = at->next;
    return at != NULL ? posted_of(at) : NULL;
}

void acclib_direct_arrived(accl_device *device, struct packet *packet)
{
    struct packets *p = device->packets;
    struct incoming *m = packet->incoming;
    bool ours = packet->heap == NULL;

    pthread_mutex_lock(&p->lock);
    struct packet_channel_state *state = &p->links[packet->rank].channel[m->header.channel];
    m->have = m->header.total;
    if (m->discarded || m->cancelled) {
        struct posted *posted = posted_for(state, m);
        if (posted != NULL) {
            posted->incoming = NULL;
            posted->name.bytes = 0; /* nothing matches it any more */
        }
        acclib_incoming_unlink(state, m);
        acclib_incoming_consumed(device, packet->rank, m);
        acclib_incoming_free(m);
    } else if (ours) {
        packet->lent = NULL;
        list_append(&m->parts, &packet->in_list);
        packet = NULL;
    }
    pthread_mutex_unlock(&p->lock);

    acclib_packet_free(packet);
    acclib_wake_self(device);
}

/* --- sending --- */

const char *acclib_direct_ready(struct packet_channel_state *state, const struct packet_header *h)
{
    struct ready *ready = calloc(1, sizeof *ready);
    if (ready == NULL)
        return NULL; /* it comes as packets */

    ready->name = name_in(h);
    list_append(&state->ready, &ready->in_channel);
    if (direct_names(&state->ready) > DIRECT_NAMES_MOST)
        free(ready_of(list_pop(&state->ready)));

    return NULL;
}

bool acclib_direct_claim(struct packet_channel_state *state, uint32_t channel,
                         const struct direct_name *name)
{
    struct list_node *next;
    for (struct list_node *at = state->ready.first; at != NULL; at = next) {
        struct ready *ready = ready_of(at);
        next = at->next;
        bool found = matches(name, &ready->name);
        bool is_over = ready->name.key == name->key &&
                       (int32_t)(name->sequence - ready->name.sequence) > 0 &&
                       channel == CHANNEL_USER;
        bool was_call = ready->name.key == name->key &&
                        (int32_t)(name->tag - ready->name.tag) > 0 && channel == CHANNEL_COLLECTIVE;
        if (!found && !is_over && !was_call)
            continue;
        list_remove(&state->ready, at);
        free(ready);
        if (found)
            return true;
    }

    return false;
}

void acclib_direct_clear(struct packet_channel_state *state)
{
    struct list_node *node;
    while ((node = list_pop(&state->posted)) != NULL)
        free(posted_of(node));
    while ((node = list_pop(&state->ready)) != NULL)
        free(ready_of(node));
}
