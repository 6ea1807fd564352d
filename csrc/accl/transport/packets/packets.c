/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues between the engine and whoever carries packets, and the interface to them. */
#include "accl/transport/packets/packets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/futex.h"

int packets_open(accl_device *device, const struct accl_rank *ranks, uint32_t n)
{
    struct packets *p = calloc(1, sizeof *p);
    if (p)
        p->links = calloc(n, sizeof *p->links);
    if (!p || !p->links) {
        free(p);
        return accl_fail(ACCL_NO_MEMORY, "no memory for the packets of %u ranks", n);
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    p->out_end = &p->out;
    p->list_key = UINT64_C(0x6c697374);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t word = (uint64_t)ranks[i].ip << 32 | ranks[i].port;
        p->list_key = (p->list_key ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        p->list_key ^= p->list_key >> 29;
        for (uint32_t c = 0; c < CHANNELS; c++) {
            p->links[i].channel[c].next_id = 1;
            p->links[i].channel[c].end = &p->links[i].channel[c].first;
        }
    }
    device->packets = p;
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        if (i == device->rank)
            continue;
        struct packet_header hello = {.kind = PACKET_HELLO,
                                      .segments = device->rx_count,
                                      .total = device->rx_bytes,
                                      .key = p->list_key,
                                      .tag = n};
        good = good && packet_put(device, packet_make(device, i, hello, 0));
    }
    if (good)
        return ACCL_OK;
    packets_close(device);
    return accl_fail(ACCL_NO_MEMORY, "no memory for the packets of %u ranks", n);
}

static void posts_free(struct parcel_post *post)
{
    while (post) {
        struct parcel_post *next = post->next;
        free(post);
        post = next;
    }
}

void incoming_free(struct incoming *incoming)
{
    posts_free(incoming->parts);
    free(incoming->room);
    free(incoming);
}

void packets_close(accl_device *device)
{
    struct packets *p = device->packets;
    if (!p)
        return;
    for (uint32_t i = 0; i < device->ranks; i++) {
        for (uint32_t c = 0; c < CHANNELS; c++) {
            struct incoming *m = p->links[i].channel[c].first;
            while (m) {
                struct incoming *next = m->next;
                incoming_free(m);
                m = next;
            }
        }
    }
    while (p->gave_up) {
        struct gave_up *next = p->gave_up->next;
        free(p->gave_up);
        p->gave_up = next;
    }
    posts_free(p->out);
    posts_free(p->carried);
    posts_free(p->filling);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    free(p->links);
    free(p);
    device->packets = NULL;
}

struct parcel_post *packet_make(const accl_device *device, uint32_t rank,
                                struct packet_header header, uint64_t payload)
{
    struct parcel_post *post = malloc(sizeof *post + sizeof header + payload);
    if (!post)
        return NULL;
    *post = (struct parcel_post){.rank = rank, .bytes = sizeof header + payload};
    header.magic = PACKET_MAGIC;
    header.version = PACKET_VERSION;
    header.from = device->rank;
    header.payload = (uint32_t)payload;
    memcpy(post->data, &header, sizeof header);
    return post;
}

bool packet_put(accl_device *device, struct parcel_post *post)
{
    struct packets *p = device->packets;
    if (!post)
        return false;
    struct packet_link *link = &p->links[post->rank];
    for (uint32_t c = 0; c < CHANNELS; c++)
        packet_header_of(post)->consumed[c] = link->channel[c].consumed;
    post->next = NULL;
    post->id = ++p->next_id;
    *p->out_end = post;
    p->out_end = &post->next;
    p->outstanding++;
    atomic_fetch_add(&p->out_bytes, post->bytes);
    pthread_cond_broadcast(&p->changed);
    return true;
}

bool packet_put_plain(accl_device *device, uint32_t rank, enum packet_kind kind, uint32_t channel,
                      uint64_t id, uint64_t key)
{
    struct packet_header header = {
        .kind = (uint8_t)kind, .channel = (uint8_t)channel, .id = id, .key = key};
    return packet_put(device, packet_make(device, rank, header, 0));
}

/* ------------------------------------------------------------------ interface */

/* ACCL_OK with the lock held. */
static int enter(accl_device *device)
{
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    struct packets *p = device->packets;
    if (!p)
        return accl_fail(ACCL_NOT_READY, "no rank is reached by packets");
    pthread_mutex_lock(&p->lock);
    return ACCL_OK;
}

static void give(struct accl_packet *packet, const struct parcel_post *post)
{
    struct accl_packet full = {.size = packet->size,
                               .rank = post->rank,
                               .id = post->id,
                               .data = (void *)(uintptr_t)post->data,
                               .bytes = post->bytes};
    memcpy(packet, &full, packet->size < sizeof full ? packet->size : sizeof full);
}

/* Takes the packet ID off LIST; NULL if it is not there. */
static struct parcel_post *unlink_post(struct parcel_post **list, uint64_t id)
{
    while (*list && (*list)->id != id)
        list = &(*list)->next;
    struct parcel_post *post = *list;
    if (post)
        *list = post->next;
    return post;
}

ACCL_EXPORT int accl_packet_next(accl_device *device, struct accl_packet *packet)
{
    if (!packet)
        return accl_is_null("accl_packet_next", "packet");
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    struct packets *p = device->packets;
    struct parcel_post *post = p->out;
    status = post ? ACCL_OK : ACCL_PENDING;
    if (post) {
        p->out = post->next;
        if (!p->out)
            p->out_end = &p->out;
        post->next = p->carried;
        p->carried = post;
        give(packet, post);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

static void ring_own_bell(accl_device *device)
{
    atomic_fetch_add(&device->header->bell, 1);
    if (atomic_load(&device->header->sleepers))
        futex_wake_all(&device->header->bell);
}

ACCL_EXPORT int accl_packet_done(accl_device *device, uint64_t id)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    struct packets *p = device->packets;
    struct parcel_post *post = unlink_post(&p->carried, id);
    if (post) {
        p->outstanding--;
        atomic_fetch_sub(&p->out_bytes, post->bytes);
    }
    pthread_mutex_unlock(&p->lock);
    if (!post)
        return accl_fail(ACCL_INVALID, "no packet %llu is under way", (unsigned long long)id);
    free(post);
    ring_own_bell(device);
    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_space(accl_device *device, uint64_t bytes, struct accl_packet *packet)
{
    if (!packet)
        return accl_is_null("accl_packet_space", "packet");
    if (bytes > ACCL_PACKET_MAX)
        return accl_fail(ACCL_INVALID, "packets have up to %llu bytes, not %llu",
                         (unsigned long long)ACCL_PACKET_MAX, (unsigned long long)bytes);
    struct parcel_post *post = malloc(sizeof *post + bytes);
    if (!post)
        return accl_fail(ACCL_NO_MEMORY, "no memory for a packet of %llu bytes",
                         (unsigned long long)bytes);
    *post = (struct parcel_post){.bytes = bytes};
    int status = enter(device);
    if (status != ACCL_OK) {
        free(post);
        return status;
    }
    struct packets *p = device->packets;
    post->id = ++p->next_id;
    post->next = p->filling;
    p->filling = post;
    give(packet, post);
    pthread_mutex_unlock(&p->lock);
    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_arrived(accl_device *device, uint32_t rank, uint64_t id)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    struct packets *p = device->packets;
    struct parcel_post *post = unlink_post(&p->filling, id);
    if (!post) {
        status = accl_fail(ACCL_INVALID, "no packet %llu is coming", (unsigned long long)id);
    } else if (rank >= device->ranks || rank == device->rank) {
        free(post);
        status = accl_fail(ACCL_INVALID, "no packets come from rank %u", rank);
    } else if (p->links[rank].lost) {
        free(post); /* whatever it is, it comes too late */
    } else {
        const char *flaw = packet_handle(device, rank, post);
        if (flaw) {
            struct packet_link *link = &p->links[rank];
            link->lost = true;
            snprintf(link->why, sizeof link->why, "it sent a packet with %s", flaw);
            status = accl_fail(ACCL_INVALID, "a packet from rank %u has %s", rank, flaw);
        }
    }
    atomic_fetch_add(&p->news, 1);
    pthread_mutex_unlock(&p->lock);
    ring_own_bell(device);
    return status;
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
    while (!p->out && p->wakes == wakes && error != ETIMEDOUT)
        error = deadline == CLOCK_NEVER ? pthread_cond_wait(&p->changed, &p->lock)
                                        : pthread_cond_timedwait(&p->changed, &p->lock, &ts);
    status = p->out ? ACCL_OK : ACCL_PENDING;
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
    if (!n)
        return accl_is_null("accl_packet_outstanding", "n");
    *n = 0;
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    *n = device->packets->outstanding;
    pthread_mutex_unlock(&device->packets->lock);
    return ACCL_OK;
}

ACCL_EXPORT int accl_packet_leave(accl_device *device)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    bool good = true;
    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && !device->packets->links[i].lost)
            good = packet_put_plain(device, i, PACKET_BYE, 0, 0, 0) && good;
    pthread_mutex_unlock(&device->packets->lock);
    return good ? ACCL_OK : accl_fail(ACCL_NO_MEMORY, "no memory for packets");
}

ACCL_EXPORT int accl_packet_lost(accl_device *device, uint32_t rank, const char *why)
{
    int status = enter(device);
    if (status != ACCL_OK)
        return status;
    struct packets *p = device->packets;
    if (rank >= device->ranks || rank == device->rank) {
        status = accl_fail(ACCL_INVALID, "no packets come from rank %u", rank);
    } else if (!p->links[rank].lost && !p->links[rank].left) {
        p->links[rank].lost = true;
        snprintf(p->links[rank].why, sizeof p->links[rank].why, "%s", why ? why : "it is gone");
    }
    atomic_fetch_add(&p->news, 1);
    pthread_mutex_unlock(&p->lock);
    ring_own_bell(device);
    return status;
}
