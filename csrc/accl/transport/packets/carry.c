/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions accl_packet_*(): the caller's side of the queues of packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "accl/transport/packets/handover.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

/* ACCL_OK with the lock held. */
static int enter(accl_device *device)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;

    struct packets *p = device->packets;
    if (p == NULL)
        return acclib_fail(ACCL_NOT_READY, "all ranks share memory: there are no packets");
    if (atomic_load(&p->carrier) != NULL)
        return acclib_fail(ACCL_IN_USE, "packets are carried by MPI: see accl_mpi_start()");

    pthread_mutex_lock(&p->lock);
    return ACCL_OK;
}

static void give(struct accl_packet *packet, const struct packet *ours)
{
    struct accl_packet full = {.size = packet->size,
                               .rank = ours->rank,
                               .id = ours->id,
                               .data = (void *)(uintptr_t)ours->data,
                               .bytes = ours->bytes};
    memcpy(packet, &full, packet->size < sizeof full ? packet->size : sizeof full);
}

/* Takes the packet ID off LIST; NULL if it is not there. */
static struct packet *unlink_packet(struct list *list, uint64_t id)
{
    struct list_node *at = list->first;
    while (at != NULL && packet_of(at)->id != id)
        at = at->next;
    if (at == NULL)
        return NULL;

    list_remove(list, at);
    return packet_of(at);
}

ACCL_EXPORT int accl_packet_next(accl_device *device, struct accl_packet *packet)
{
    if (packet == NULL)
        return acclib_is_null("accl_packet_next", "packet");

    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    struct packets *p = device->packets;
    struct list_node *node = acclib_packet_pop(device);
    status = node != NULL ? ACCL_OK : ACCL_PENDING;
    if (node != NULL) {
        list_prepend(&p->carried, node);
        give(packet, packet_of(node));
    }
    pthread_mutex_unlock(&p->lock);

    return status;
}

ACCL_EXPORT int accl_packet_done(accl_device *device, uint64_t id)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    struct packets *p = device->packets;
    struct packet *ours = unlink_packet(&p->carried, id);
    pthread_mutex_unlock(&p->lock);

    if (ours == NULL)
        return acclib_fail(ACCL_INVALID, "no packet %llu is being carried", (unsigned long long)id);

    acclib_packets_sent(device, ours);
    acclib_wake_self(device);

    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_space(accl_device *device, uint64_t bytes, struct accl_packet *packet)
{
    if (packet == NULL)
        return acclib_is_null("accl_packet_space", "packet");
    if (bytes > ACCL_PACKET_MAX)
        return acclib_fail(ACCL_INVALID, "a packet has at most %llu bytes, not %llu",
                           (unsigned long long)ACCL_PACKET_MAX, (unsigned long long)bytes);
    struct packet *ours = malloc(sizeof *ours + bytes);
    if (ours == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (packet of %llu bytes)",
                           (unsigned long long)bytes);
    *ours = (struct packet){.bytes = bytes};
    int status = enter(device);
    if (status != ACCL_OK) {
        free(ours);
        return status;
    }

    struct packets *p = device->packets;
    ours->id = ++p->next_id;
    list_prepend(&p->filling, &ours->in_list);
    give(packet, ours);
    pthread_mutex_unlock(&p->lock);

    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_arrived(accl_device *device, uint32_t rank, uint64_t id)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    struct packets *p = device->packets;
    struct packet *ours = unlink_packet(&p->filling, id);
    pthread_mutex_unlock(&p->lock);

    if (ours == NULL)
        return acclib_fail(ACCL_INVALID, "no packet %llu is being received",
                           (unsigned long long)id);

    return acclib_packets_arrived(device, rank, ours);
}

ACCL_EXPORT int accl_packet_wait(accl_device *device, int64_t timeout_ns)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    struct packets *p = device->packets;
    int64_t deadline = clock_deadline(timeout_ns);
    struct timespec ts = {.tv_sec = (time_t)(deadline / CLOCK_SECOND),
                          .tv_nsec = (long)(deadline % CLOCK_SECOND)};
    uint64_t wakes = p->wakes;
    int error = timeout_ns == 0 ? ETIMEDOUT : 0;
    while (list_is_empty(&p->out) && p->wakes == wakes && error != ETIMEDOUT)
        error = deadline == CLOCK_NEVER ? pthread_cond_wait(&p->changed, &p->lock)
                                        : pthread_cond_timedwait(&p->changed, &p->lock, &ts);
    status = list_is_empty(&p->out) ? ACCL_PENDING : ACCL_OK;
    pthread_mutex_unlock(&p->lock);

    return status;
}

ACCL_EXPORT int accl_packet_wake(accl_device *device)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    device->packets->wakes++;
    pthread_cond_broadcast(&device->packets->changed);
    pthread_mutex_unlock(&device->packets->lock);
    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_outstanding(accl_device *device, uint64_t *n)
{
    if (n == NULL)
        return acclib_is_null("accl_packet_outstanding", "n");

    *n = 0;
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    *n = atomic_load(&device->packets->outstanding);
    pthread_mutex_unlock(&device->packets->lock);

    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_leave(accl_device *device)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    pthread_mutex_unlock(&device->packets->lock);
    return acclib_packets_leave(device) ? ACCL_OK
                                        : acclib_fail(ACCL_NO_MEMORY, "out of memory (packets)");
}

ACCL_EXPORT int accl_packet_lost(accl_device *device, uint32_t rank, const char *why)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;

    pthread_mutex_unlock(&device->packets->lock);
    if (rank >= device->ranks || rank == device->rank)
        return acclib_fail(ACCL_INVALID, "rank %u sends no packets", rank);

    acclib_packets_lost(device, rank, why != NULL ? why : "it is gone");
    return ACCL_OK;
}
