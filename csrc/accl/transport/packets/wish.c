/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/wish.h"

#include <sched.h>

#include "accl/transport/packets/carrier.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

/*
 * A wait yields every few turns: with more ranks than cores the awaited one may need this very
 * core, and a nap lasts longer than a short call. From some time without news on it naps, as a
 * thread of another program may take a whole slice of time at each yield. Long data take longer
 * than a nap.
 */
#define TURNS 8
#define NAP_AFTER_NS INT64_C(100000)
#define LONG_NAP_AFTER_NS INT64_C(500000)

void acclib_wish_make(struct wish *w, accl_device *device, struct communicator *comm,
                      uint32_t index, const struct packet_message *message, uint32_t operation,
                      uint32_t timeout_bits)
{
    uint32_t rank = comm->members[index].rank;
    struct packet_link *link = &device->packets->links[rank];
    *w = (struct wish){.device = device,
                       .comm = comm,
                       .index = index,
                       .rank = rank,
                       .link = link,
                       .state = &link->channel[message->channel],
                       .message = message,
                       .operation = operation,
                       .timeout_bits = timeout_bits};
}

/* Lets time pass, and carries packets if this thread may. */
static uint32_t pause_carrying(struct waiter *waiter, bool is_long)
{
    accl_device *device = waiter->device;
    if (!acclib_carrier_is_mine(device))
        return acclib_wait_pause(waiter);
    if (acclib_carrier_turn(device))
        waiter->spins_on = 1;
    else if (waiter->rounds == 0)
        acclib_wake_flush(device);
    if (++waiter->rounds % TURNS)
        return 0;

    int64_t now = clock_now();
    bool moved = waiter->spins_on;
    waiter->spins_on = 0;
    if (moved || !waiter->began)
        waiter->began = now;
    if (now - waiter->began >= (is_long ? LONG_NAP_AFTER_NS : NAP_AFTER_NS))
        return acclib_wait_pause_briefly(waiter, 1);
    if (!moved)
        sched_yield();

    return acclib_wait_pause_briefly(waiter, 0);
}

uint32_t acclib_wish_wait(struct wish *w, bool (*ready)(struct wish *w))
{
    accl_device *device = w->device;
    wish_lock(w);
    if (ready(w))
        return 0;

    wish_unlock(w);
    bool collective = w->message->channel == CHANNEL_COLLECTIVE;
    struct waiter waiter;
    acclib_wait_begin(&waiter, device, w->comm, w->rank, collective, w->timeout_bits);
    uint32_t bits = 0;
    bool noted = false, done = false;
    acclib_carrier_take_over(device);
    while (!bits && !done) {
        if ((waiter.armed || waiter.inspected) && !noted) {
            noted = true;
            acclib_note_wait(device, w->operation, w->rank, w->message->tag, w->message->sequence,
                             w->comm->key);
        }
        bits = pause_carrying(&waiter, w->is_long);
        /* Checked even at the end: it may have come just before the other side left. */
        wish_lock(w);
        done = ready(w);
        if (!done) {
            wish_unlock(w);
            if (waiter.rounds % 64 == 0)
                acclib_transport_progress(device);
        }
    }
    acclib_carrier_hand_back(device);
    acclib_wait_end(&waiter);
    if (done && bits)
        device->text[0] = 0;

    return done ? 0 : bits;
}
