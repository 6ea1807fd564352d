/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving packets from MPI. A receive for a short packet is posted for each rank, so that MPI
 * matches a packet when it comes; it is copied to memory of its own, unless that takes long, and
 * the receive is posted again. A long packet follows a message with its length.
 */
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/convert.h"
#include "accl/transport/packets/arrive.h"
#include "accl/transport/packets/carrier_state.h"
#include "accl/transport/packets/direct_names.h"
#include "accl/transport/packets/handover.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/wake.h"

/* Packets up to that length are copied. */
#define COPIED_MOST 3072

/* --- inboxes --- */

static void open_inbox(accl_device *device, struct carrier *c, uint32_t at)
{
    struct inbox *box = &c->inboxes[at];
    uint32_t rank = box->packet->rank;
    int error = c->mpi.calls->receive_at(&c->mpi, box->packet->data, (int)INBOX_BYTES, (int)rank,
                                         TAG_PACKET, c->requests, at);
    box->open = !error;
    c->n_open += !error;
    if (error)
        acclib_carrier_failed(device, c, NO_RANK, error);
}

bool acclib_carrier_open_inboxes(accl_device *device, struct carrier *c)
{
    c->inboxes = calloc(device->ranks, sizeof *c->inboxes);
    c->requests = calloc(device->ranks, sizeof(union mpi_request));
    bool good = c->inboxes != NULL && c->requests != NULL;

    for (uint32_t rank = 0; good && rank < device->ranks; rank++) {
        if (rank == device->rank)
            continue;
        struct packet *packet = acclib_packet_new(&device->packets->pool, INBOX_BYTES);
        good = packet != NULL;
        if (!good)
            break;
        packet->rank = rank;
        c->inboxes[c->n_inboxes++].packet = packet;
    }

    /* All of them or none, as MPI looks at all requests. */
    for (uint32_t i = 0; good && i < c->n_inboxes && !c->broken; i++)
        open_inbox(device, c, i);
    return good;
}

void acclib_carrier_withdraw_inboxes(struct carrier *c)
{
    if (c->broken)
        return;
    for (uint32_t i = 0; i < c->n_inboxes; i++)
        if (c->inboxes[i].open)
            c->mpi.calls->cancel_at(&c->mpi, c->requests, i);

    for (uint32_t turn = 0; c->n_open && turn < EAGER_TURNS; turn++) {
        int at, bytes;
        c->mpi.calls->test_any(&c->mpi, c->requests, 0, (int)c->n_inboxes, &at, &bytes);
        if (at < 0 || !c->inboxes[at].open)
            continue;
        c->inboxes[at].open = false;
        c->n_open--;
    }
}

void acclib_carrier_free_inboxes(struct carrier *c, struct list *abandoned)
{
    for (uint32_t i = 0; i < c->n_inboxes; i++) {
        if (c->inboxes[i].open)
            list_append(abandoned, &c->inboxes[i].packet->in_list);
        else
            acclib_packet_free(c->inboxes[i].packet);
    }

    free(c->inboxes);
    free(c->requests);
    c->n_inboxes = 0;
}

/* --- packets --- */

static void deliver(accl_device *device, struct carrier *c, struct packet *packet);
static void begin_data(accl_device *device, struct carrier *c);

/* True if a packet of RANK before AT in the list is not complete yet; NULL: in all of it. */
static bool is_behind(const struct carrier *c, struct list_node *at, uint32_t rank)
{
    struct list_node *before = at != NULL ? at->previous : c->receiving.last;
    while (before != NULL && packet_of(before)->rank != rank)
        before = before->previous;
    return before != NULL;
}

/* A long packet that there is no memory for: it is too long for the room, which is an error that
 * changes nothing else. */
static void drop_long(struct carrier *c, uint32_t rank)
{
    union mpi_request request;
    bool done = false;
    int error = c->mpi.calls->receive(&c->mpi, NULL, 0, (int)rank, TAG_LONG, &request);
    for (int i = 0; !error && !done && i < EAGER_TURNS; i++)
        error = c->mpi.calls->test(&c->mpi, &request, &done);
}

static void begin_long(accl_device *device, struct carrier *c, uint32_t rank, uint64_t bytes)
{
    if (bytes <= INBOX_BYTES || bytes > ACCL_PACKET_MAX) {
        acclib_packets_lost(device, rank, "it announced a packet of an invalid length");
        return;
    }

    struct packet *packet = acclib_packet_new(&device->packets->pool, bytes);
    if (packet == NULL) {
        drop_long(c, rank);
        acclib_packets_lost(device, rank, "out of memory (a packet of it)");
        return;
    }

    packet->rank = rank;
    int error = c->mpi.calls->receive(&c->mpi, packet->data, (int)bytes, (int)rank, TAG_LONG,
                                      &packet->request);
    if (!error) {
        list_append(&c->receiving, &packet->in_list);
        return;
    }
    acclib_carrier_failed(device, c, rank, error);
    acclib_packet_free(packet);
}

/* The packet of BYTES in an inbox, which gets other memory for it unless it is copied; NULL if
 * there is none. */
static struct packet *take_packet(accl_device *device, struct carrier *c, uint32_t at,
                                  uint64_t bytes)
{
    struct packet *from = c->inboxes[at].packet;
    bool is_copied = bytes <= COPIED_MOST;
    struct packet *packet =
        acclib_packet_new(&device->packets->pool, is_copied ? bytes : INBOX_BYTES);
    if (packet == NULL)
        return NULL;

    packet->rank = from->rank;
    if (is_copied) {
        memcpy(packet->data, from->data, bytes);
        return packet;
    }
    c->inboxes[at].packet = packet;
    from->bytes = bytes;
    return from;
}

/* A message of BYTES has come to an inbox, which is free for the next one from here on. */
static void empty_inbox(accl_device *device, struct carrier *c, uint32_t at, uint64_t bytes)
{
    struct packet *from = c->inboxes[at].packet;
    uint32_t rank = from->rank;
    if (!bytes) {
        c->ended[rank] = true;
        return;
    }

    if (bytes == LENGTH_BYTES) {
        uint64_t length;
        memcpy(&length, from->data, sizeof length);
        open_inbox(device, c, at);
        begin_long(device, c, rank, length);
        return;
    }

    bool is_next = !is_behind(c, NULL, rank), kept;
    if (bytes == sizeof(struct packet_header) && is_next) {
        from->bytes = bytes;
        acclib_packets_came(device, rank, from, &kept);
        open_inbox(device, c, at);
        begin_data(device, c);
        return;
    }

    struct packet *packet = take_packet(device, c, at, bytes);
    open_inbox(device, c, at);

    if (packet == NULL) {
        acclib_packets_lost(device, rank, "out of memory (a packet of it)");
    } else if (is_next) {
        deliver(device, c, packet);
    } else {
        packet->here = true;
        list_append(&c->receiving, &packet->in_list);
    }
}

/* Takes a message that has come to one of N inboxes from FIRST on out of MPI's hands. False if
 * there is none; else *AT is its inbox, and *BYTES its length, or -1: it failed. */
static bool look(accl_device *device, struct carrier *c, uint32_t first, uint32_t n, uint32_t *at,
                 int *bytes)
{
    int found;
    int error = c->mpi.calls->test_any(&c->mpi, c->requests, first, (int)n, &found, bytes);
    if (found < 0 && !error)
        return false;

    bool is_one = found >= 0 && c->inboxes[found].open;
    if (error)
        acclib_carrier_failed(device, c, is_one ? c->inboxes[found].packet->rank : NO_RANK, error);
    if (!is_one)
        return false;

    *at = (uint32_t)found;
    c->inboxes[found].open = false;
    c->n_open--;
    if (error || *bytes < 0 || (uint64_t)*bytes > INBOX_BYTES)
        *bytes = -1;
    return true;
}

static void empty_or_open(accl_device *device, struct carrier *c, uint32_t at, int bytes)
{
    if (bytes >= 0)
        empty_inbox(device, c, at, (uint64_t)bytes);
    else
        open_inbox(device, c, at); /* for its last message */
}

/* Takes a message that has come to one of N inboxes from FIRST on; whether there was one. */
static bool take_next(accl_device *device, struct carrier *c, uint32_t first, uint32_t n)
{
    uint32_t at;
    int bytes;
    bool came = c->n_open && look(device, c, first, n, &at, &bytes);
    if (came)
        empty_or_open(device, c, at, bytes);
    return came;
}

/* --- data without packets --- */

/* The data that a packet announced, which the sender gave to MPI right after it. */
static void begin_data(accl_device *device, struct carrier *c)
{
    struct list_node *node;
    while ((node = list_pop(&device->packets->announced)) != NULL) {
        struct packet *packet = packet_of(node);
        int error = c->mpi.calls->receive(&c->mpi, packet->lent, (int)packet->bytes,
                                          (int)packet->rank, TAG_DATA, &packet->request);
        list_append(error ? &c->failed : &c->moving, node);
        if (error)
            acclib_carrier_failed(device, c, packet->rank, error);
    }
}

static void deliver(accl_device *device, struct carrier *c, struct packet *packet)
{
    acclib_packets_arrived(device, packet->rank, packet);
    begin_data(device, c);
}

static void test_data(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    for (struct list_node *at = c->moving.first; at != NULL; at = next) {
        struct packet *packet = packet_of(at);
        bool done = false;
        next = at->next;
        int error = c->mpi.calls->test(&c->mpi, &packet->request, &done);
        if (!error && !done)
            continue;
        list_remove(&c->moving, at);
        list_append(error ? &c->failed : &c->moved, at);
        if (error)
            acclib_carrier_failed(device, c, packet->rank, error);
    }
}

static void finish_data(accl_device *device, struct carrier *c)
{
    struct list_node *node;
    while ((node = list_pop(&c->moved)) != NULL)
        acclib_direct_arrived(device, packet_of(node));
}

/* --- a turn --- */

/* Delivers long packets that are complete, and what came after them. */
static bool finish_receives(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    bool moved = false;

    for (struct list_node *at = c->receiving.first; at != NULL; at = next) {
        struct packet *packet = packet_of(at);
        bool done = packet->here;
        next = at->next;
        if (is_behind(c, at, packet->rank))
            continue;
        int error = done ? 0 : c->mpi.calls->test(&c->mpi, &packet->request, &done);
        if (!error && !done)
            continue;
        list_remove(&c->receiving, at);
        moved = true;
        if (error) {
            acclib_carrier_failed(device, c, packet->rank, error);
            acclib_packet_free(packet);
        } else {
            deliver(device, c, packet);
        }
    }

    return moved;
}

bool acclib_carrier_receive(accl_device *device, struct carrier *c)
{
    test_data(device, c);

    /* Data count if no packet has come after them that takes them back. MPI may move a packet in
     * one look, and say so in the next one. */
    bool moved = false;
    uint32_t looks = list_is_empty(&c->moved) ? 1 : 2, empty = 0;
    for (uint32_t n = 0; n < BURST && !c->broken && empty < looks; n++) {
        bool came = take_next(device, c, 0, c->n_inboxes);
        empty = came ? 0 : empty + 1;
        moved |= came;
    }

    if (c->receiving.first != NULL)
        moved |= finish_receives(device, c);

    if (empty == looks && c->moved.first != NULL && c->receiving.first == NULL) {
        finish_data(device, c);
        moved = true;
    }

    return moved;
}

/* The inbox of RANK, if a packet of it is all that may come; else NO_RANK. */
static uint32_t only_inbox(const accl_device *device, const struct carrier *c, uint32_t rank)
{
    uint32_t at = rank < device->rank ? rank : rank - 1;
    bool has_data = c->moving.first != NULL || c->moved.first != NULL || c->receiving.first != NULL;
    return has_data || c->broken || at >= c->n_inboxes || !c->inboxes[at].open ? NO_RANK : at;
}

bool acclib_carrier_receive_from(accl_device *device, struct carrier *c, uint32_t rank)
{
    uint32_t at = only_inbox(device, c, rank);
    return at == NO_RANK ? acclib_carrier_receive(device, c) : take_next(device, c, at, 1);
}

/* The message in an inbox goes to its place, if it is the one. */
static bool take_short(accl_device *device, struct packet *packet, struct awaited *a)
{
    struct packets *p = device->packets;
    pthread_mutex_lock(&p->lock);
    bool is_it = acclib_packet_catch(device, packet_header_of(packet), a);
    pthread_mutex_unlock(&p->lock);
    /* Its counts may be what another call waits for. */
    if (is_it && atomic_load(&device->header->sleepers))
        acclib_wake_self(device);

    if (is_it && a->count)
        acclib_convert(a->data, a->type, packet->data + sizeof(struct packet_header), a->wire_type,
                       a->count, false);
    return is_it;
}

bool acclib_carrier_receive_short(accl_device *device, struct carrier *c, struct awaited *a,
                                  uint32_t looks)
{
    uint32_t only = only_inbox(device, c, a->rank), at;
    int bytes;
    bool came = false;
    if (only == NO_RANK)
        return false;

    for (uint32_t turn = 0; turn < looks && !came && !c->broken; turn++)
        came = look(device, c, only, 1, &at, &bytes);
    if (!came)
        return false;

    struct packet *packet = c->inboxes[at].packet;
    bool is_it =
        bytes == (int)(sizeof(struct packet_header) + a->bytes) && take_short(device, packet, a);
    if (is_it)
        open_inbox(device, c, at);
    else
        empty_or_open(device, c, at, bytes);
    return is_it;
}
