/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/carrier_short.h"

#include "accl/transport/packets/carrier_state.h"
#include "accl/transport/packets/queue.h"

/* Looks for a message before its receive waits as any other one does. */
#define LOOKS 64

/* The carrier, locked; NULL if it is not free, or if it is time to look at all ranks, as the usual
 * wait does now and then. */
static struct carrier *enter(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL || !carrier_may_call(c) || pthread_mutex_trylock(&c->lock) != 0)
        return NULL;

    uint32_t looks = atomic_load_explicit(&c->looks, memory_order_relaxed) + 1;
    if (!c->stopped && (c->n_inboxes == 1 || looks % LOOKS_AT_ONE != 0)) {
        atomic_store_explicit(&c->looks, looks, memory_order_relaxed);
        return c;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* With the carrier's lock, without which no message is added to those that are here. */
static bool receive(accl_device *device, struct carrier *c, struct awaited *a)
{
    struct packets *p = device->packets;
    const struct packet_channel_state *state = &p->links[a->rank].channel[a->message->channel];
    return list_is_empty(&state->messages) &&
           acclib_carrier_receive_short(device, c, a, p->shared_yields ? 1 : LOOKS);
}

bool acclib_carrier_catch(accl_device *device, struct awaited *a)
{
    struct carrier *c = enter(device);
    if (c == NULL)
        return false;

    bool is_here = receive(device, c, a);
    pthread_mutex_unlock(&c->lock);
    return is_here;
}

/* Writes the packet of an empty message; false if it may not be sent at once. */
static bool write_empty(accl_device *device, struct carrier *c, uint32_t to,
                        const struct awaited *a)
{
    struct packets *p = device->packets;
    struct packet_link *link = &p->links[to];
    struct packet_channel_state *state = &link->channel[CHANNEL_COLLECTIVE];
    if (c->claim == NULL)
        c->claim = acclib_packet_new(&p->pool, INBOX_BYTES);
    if (c->claim == NULL)
        return false;

    pthread_mutex_lock(&p->lock);
    bool is_free = link->greeted && !link->lost && !link->left && !p->has_left &&
                   list_is_empty(&p->out) && state->sent - state->acknowledged < COLLECTIVE_WINDOW;
    if (is_free) {
        struct packet_header *header = packet_header_of(c->claim);
        acclib_message_begin(header, state, a->key, a->message, a->wire_type, 0, 1, 1);
        c->claim->rank = to;
        c->claim->bytes = sizeof *header;
        acclib_packet_seal(device, c->claim);
    }
    pthread_mutex_unlock(&p->lock);

    return is_free;
}

enum meeting acclib_carrier_meet(accl_device *device, uint32_t to, struct awaited *a)
{
    enum meeting meeting = MEETING_NONE;
    struct carrier *c = enter(device);
    if (c == NULL)
        return meeting;

    if (write_empty(device, c, to, a)) {
        acclib_carrier_send_one(device, c);
        meeting = receive(device, c, a) ? MEETING_DONE : MEETING_SENT;
    }
    pthread_mutex_unlock(&c->lock);
    return meeting;
}
