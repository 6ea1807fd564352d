/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for packets, and what ends it. */
#include <stdlib.h>
#include <string.h>

#include "accl/transport/packets/packets.h"

void wish_make(struct wish *w, accl_device *device, struct communicator *comm, uint32_t index,
               const struct packet_message *message, uint32_t operation, uint32_t timeout_bits)
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

uint32_t wish_wait(struct wish *w, bool (*ready)(struct wish *w))
{
    accl_device *device = w->device;
    wish_lock(w);
    if (ready(w))
        return 0;
    wish_unlock(w);
    bool collective = w->message->channel == CHANNEL_COLLECTIVE;
    struct waiter waiter;
    wait_begin(&waiter, device, w->comm, w->rank, collective, w->timeout_bits);
    waiter.by_packets = true;
    uint32_t bits = 0;
    bool noted = false, done = false;
    while (!bits && !done) {
        if (waiter.armed && !noted) {
            noted = true;
            note_wait(device, w->operation, w->rank, w->message->tag, w->message->sequence,
                      w->comm->key);
        }
        bits = wait_pause(&waiter);
        /* Looked at even at the end: it may have come just before the other side left. */
        wish_lock(w);
        done = ready(w);
        if (!done) {
            wish_unlock(w);
            if (waiter.rounds % 64 == 0)
                message_progress_streams(device);
        }
    }
    wait_end(&waiter);
    if (done && bits)
        device->text[0] = 0;
    return done ? 0 : bits;
}

uint32_t packets_inspect(accl_device *device, uint32_t rank, bool must_stay)
{
    struct packets *p = device->packets;
    const struct packet_link *link = &p->links[rank];
    uint32_t bits = 0;
    pthread_mutex_lock(&p->lock);
    if (link->lost)
        bits = call_fail(device, ACCL_ERROR(PEER_LOST_ERROR), "rank %u (of communicator 0): %s",
                         rank, link->why);
    else if (must_stay && link->left)
        bits = call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                         "rank %u (of communicator 0) has closed its device", rank);
    pthread_mutex_unlock(&p->lock);
    return bits;
}

static uint32_t index_of(const struct communicator *comm, uint32_t rank)
{
    uint32_t i = 0;
    while (i < comm->n && comm->members[i].rank != rank)
        i++;
    return i;
}

uint32_t packets_gave_up(accl_device *device, const struct communicator *comm)
{
    struct packets *p = device->packets;
    uint32_t bits = 0;
    pthread_mutex_lock(&p->lock);
    for (const struct gave_up *g = p->gave_up; g && !bits; g = g->next) {
        if (g->key != comm->key)
            continue;
        bits = lane_compare_call(device, comm, index_of(comm, g->rank), &g->told);
        if (!bits)
            bits = call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                             "rank %u (of communicator 0) gave up communicator %u after an error "
                             "of its own",
                             g->rank, comm->id);
    }
    pthread_mutex_unlock(&p->lock);
    return bits;
}

void packets_give_up(accl_device *device, const struct communicator *comm)
{
    struct packets *p = device->packets;
    struct packet_header header = {.kind = PACKET_GAVE_UP,
                                   .channel = CHANNEL_COLLECTIVE,
                                   .key = comm->key,
                                   .tag = (uint32_t)comm->current,
                                   .call = lane_call(comm),
                                   .sequence = comm->signature};
    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t rank = comm->members[i].rank;
        if (rank != device->rank && !p->links[rank].lost && !p->links[rank].left)
            packet_put(device, packet_make(device, rank, header, 0));
    }
    pthread_mutex_unlock(&p->lock);
}
