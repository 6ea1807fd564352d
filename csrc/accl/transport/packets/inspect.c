/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/inspect.h"

#include <stdlib.h>

#include "accl/transport/packets/queue.h"
#include "accl/transport/wait.h"

uint32_t acclib_packets_inspect_rank(accl_device *device, uint32_t rank, bool must_stay)
{
    struct packets *p = device->packets;
    const struct packet_link *link = &p->links[rank];
    uint32_t bits = 0;

    pthread_mutex_lock(&p->lock);
    if (link->lost)
        bits = acclib_call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                                "rank %u (of communicator 0): %s", rank, link->why);
    else if (must_stay && link->left)
        bits = acclib_call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                                "rank %u (of communicator 0) has closed its device", rank);
    pthread_mutex_unlock(&p->lock);

    return bits;
}

uint32_t acclib_packets_inspect(struct waiter *w, uint32_t rank, bool must_stay)
{
    return acclib_packets_inspect_rank(w->device, rank, must_stay);
}

uint32_t acclib_packets_inspect_members(struct waiter *w)
{
    const struct communicator *comm = w->comm;

    /* First, as a rank that gave up may have left since. */
    uint32_t bits = acclib_packets_gave_up(w->device, comm);
    if (!bits && w->peer != NO_RANK)
        bits = acclib_wait_inspect_rank(w, w->peer, true);
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = acclib_wait_inspect_rank(w, comm->members[i].rank, false);
    return bits ? bits : acclib_wait_inspect_outer(w);
}

static uint32_t index_of(const struct communicator *comm, uint32_t rank)
{
    uint32_t i = 0;
    while (i < comm->n && comm->members[i].rank != rank)
        i++;
    return i;
}

/* Compares what RANK told of its calls, from the first that this rank has not received a message
 * of. A rank may give up after the call that differs, and then tells of a later one itself. */
static uint32_t compare_calls(accl_device *device, const struct communicator *comm,
                              const struct gave_up *g)
{
    uint32_t index = index_of(comm, g->rank), bits = 0;
    struct list *messages = &device->packets->links[g->rank].channel[CHANNEL_COLLECTIVE].messages;
    for (struct list_node *at = messages->first; at != NULL && !bits; at = at->next) {
        struct call_told told = packet_told(&incoming_of(at)->header);
        if (incoming_of(at)->header.key == comm->key)
            bits = acclib_call_compare(device, comm, index, &told);
    }

    return bits ? bits : acclib_call_compare(device, comm, index, &g->told);
}

uint32_t acclib_packets_gave_up(accl_device *device, const struct communicator *comm)
{
    struct packets *p = device->packets;
    uint32_t bits = 0;
    if (!atomic_load(&p->failures))
        return 0;

    pthread_mutex_lock(&p->lock);
    for (struct list_node *at = p->gave_up.first; at != NULL && !bits; at = at->next) {
        const struct gave_up *g = gave_up_of(at);
        if (g->key != comm->key)
            continue;
        bits = compare_calls(device, comm, g);
        if (!bits)
            bits = acclib_call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                                    "rank %u (of communicator 0) gave up communicator %u after an "
                                    "error of its own",
                                    g->rank, comm->id);
    }
    pthread_mutex_unlock(&p->lock);

    return bits;
}

void acclib_packets_forget_failures(accl_device *device, const struct communicator *comm)
{
    struct packets *p = device->packets;
    pthread_mutex_lock(&p->lock);
    for (struct list_node *at = p->gave_up.first, *next; at != NULL; at = next) {
        next = at->next;
        if (gave_up_of(at)->key == comm->key) {
            list_remove(&p->gave_up, at);
            atomic_fetch_sub(&p->failures, 1);
            free(gave_up_of(at));
        }
    }
    pthread_mutex_unlock(&p->lock);
}

void acclib_packets_give_up(accl_device *device, struct communicator *comm)
{
    struct packets *p = device->packets;
    struct packet_header header = {.kind = PACKET_GAVE_UP,
                                   .channel = CHANNEL_COLLECTIVE,
                                   .key = comm->key,
                                   .tag = (uint32_t)comm->current,
                                   .call = call_note(comm, comm->current),
                                   .sequence = comm->signature};
    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t rank = comm->members[i].rank;
        if (rank != device->rank && !p->links[rank].lost && !p->links[rank].left)
            acclib_packet_put(device, acclib_packet_make(device, rank, header, 0));
    }
    pthread_mutex_unlock(&p->lock);
}
