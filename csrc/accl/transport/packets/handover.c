/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/handover.h"

#include <stdio.h>

#include "accl/transport/packets/arrive.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/wake.h"

struct packet *acclib_packets_take(accl_device *device)
{
    struct packets *p = device->packets;
    if (!atomic_load_explicit(&p->queued, memory_order_relaxed))
        return NULL;

    pthread_mutex_lock(&p->lock);
    struct list_node *node = acclib_packet_pop(device);
    pthread_mutex_unlock(&p->lock);
    return node != NULL ? packet_of(node) : NULL;
}

void acclib_packets_uncount(accl_device *device, struct packet *packet)
{
    struct packets *p = device->packets;
    if (packet->lent != NULL) {
        pthread_mutex_lock(&p->lock);
        if (packet->left != NULL)
            *packet->left = true;
        pthread_mutex_unlock(&p->lock);
    }

    atomic_fetch_sub(&p->outstanding, 1);
    atomic_fetch_sub(&p->out_bytes, packet->bytes);
}

void acclib_packets_sent(accl_device *device, struct packet *packet)
{
    acclib_packets_uncount(device, packet);
    acclib_packet_free(packet);
}

static int handle(accl_device *device, uint32_t rank, struct packet *packet, bool *kept)
{
    struct packet_link *link = &device->packets->links[rank];
    if (link->lost)
        return ACCL_OK; /* whatever it is, it comes too late */

    const char *flaw = acclib_packet_handle(device, rank, packet, kept);
    if (flaw == NULL)
        return ACCL_OK;

    link->lost = true;
    snprintf(link->why, sizeof link->why, "it sent a packet with %s", flaw);

    return acclib_fail(ACCL_INVALID, "a packet from rank %u has %s", rank, flaw);
}

int acclib_packets_came(accl_device *device, uint32_t rank, struct packet *packet, bool *kept)
{
    struct packets *p = device->packets;
    *kept = false;
    if (rank >= device->ranks || rank == device->rank)
        return acclib_fail(ACCL_INVALID, "rank %u sends no packets", rank);

    pthread_mutex_lock(&p->lock);
    int status = handle(device, rank, packet, kept);
    pthread_mutex_unlock(&p->lock);

    acclib_wake_self(device);
    return status;
}

int acclib_packets_arrived(accl_device *device, uint32_t rank, struct packet *packet)
{
    bool kept;
    int status = acclib_packets_came(device, rank, packet, &kept);
    if (!kept)
        acclib_packet_free(packet);
    return status;
}

void acclib_packets_lost(accl_device *device, uint32_t rank, const char *why)
{
    struct packets *p = device->packets;
    struct packet_link *link = &p->links[rank];

    pthread_mutex_lock(&p->lock);
    if (!link->lost && !link->left) {
        link->lost = true;
        snprintf(link->why, sizeof link->why, "%s", why);
    }
    pthread_mutex_unlock(&p->lock);

    acclib_wake_self(device);
}

bool acclib_packets_leave(accl_device *device)
{
    struct packets *p = device->packets;
    bool good = true;

    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && !p->links[i].lost)
            good = acclib_packet_put_plain(device, i, PACKET_BYE, 0, 0, 0) && good;
    p->has_left = good;
    pthread_mutex_unlock(&p->lock);

    return good;
}
