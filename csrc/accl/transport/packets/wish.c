/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/wish.h"

#include "accl/transport/transport.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"

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
    while (!bits && !done) {
        if (waiter.armed && !noted) {
            noted = true;
            acclib_note_wait(device, w->operation, w->rank, w->message->tag, w->message->sequence,
                             w->comm->key);
        }
        bits = acclib_wait_pause(&waiter);
        /* Checked even at the end: it may have come just before the other side left. */
        wish_lock(w);
        done = ready(w);
        if (!done) {
            wish_unlock(w);
            if (waiter.rounds % 64 == 0)
                acclib_transport_progress(device);
        }
    }
    acclib_wait_end(&waiter);
    if (done && bits)
        device->text[0] = 0;

    return done ? 0 : bits;
}
