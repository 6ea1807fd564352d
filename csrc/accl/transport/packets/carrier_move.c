/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending packets as MPI messages, a turn of the carrier, and the end. */
#include <limits.h>
#include <stdlib.h>

#include "accl/transport/packets/carried_reduction.h"
#include "accl/transport/packets/handover.h"

/* Sends that are not over and may be left behind by later ones, in one turn. */
#define TEST_MOST 8
/* Packets up to that length most often leave without being tested again. */
#define QUICK_MOST ((UINT64_C(12) << 10) + sizeof(struct packet_header))

_Static_assert(ACCL_PACKET_MAX <= INT_MAX, "a packet is one message");

/* Packets that MPI did not give back when its carrier ended, of all devices: MPI may use their
 * memory as long as the process lives. */
static struct list abandoned;
static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- sending --- */

/* Tests whether MPI is done with a packet, and with its length; returns its error code. */
static int test_send(struct carrier *c, struct packet *packet, bool *done)
{
    bool left = true;
    int error = 0;
    if (packet->has_length)
        error = c->mpi.calls->test(&c->mpi, &packet->length, &left);
    packet->has_length = packet->has_length && !error && !left;

    *done = false;
    return error || !left ? error : c->mpi.calls->test(&c->mpi, &packet->request, done);
}

/* Frees the packets that have left. */
static bool finish_sends(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    uint32_t waiting = 0;
    bool moved = false;

    for (struct list_node *at = c->sending.first; at != NULL && waiting < TEST_MOST; at = next) {
        struct packet *packet = packet_of(at);
        bool done = false;
        next = at->next;
        int error = test_send(c, packet, &done);
        if (error)
            acclib_carrier_failed(device, c, packet->rank, error);
        if (!error && !done) {
            waiting++;
            continue;
        }
        list_remove(&c->sending, at);
        acclib_packets_sent(device, packet);
        moved = true;
    }

    return moved;
}

/* A long packet follows its length. */
static int begin_send(struct carrier *c, struct packet *packet)
{
    const struct mpi_calls *calls = c->mpi.calls;
    int to = (int)packet->rank, bytes = (int)packet->bytes;
    if (packet->lent != NULL)
        return calls->send(&c->mpi, packet->lent, bytes, to, TAG_DATA, &packet->request);
    if (packet->bytes <= INBOX_BYTES)
        return calls->send(&c->mpi, packet->data, bytes, to, TAG_PACKET, &packet->request);

    int error = calls->send(&c->mpi, &packet->bytes, LENGTH_BYTES, to, TAG_PACKET, &packet->length);
    packet->has_length = !error;
    return error ? error
                 : calls->send(&c->mpi, packet->data, bytes, to, TAG_LONG, &packet->request);
}

static bool begin_sends(accl_device *device, struct carrier *c, uint32_t most)
{
    uint32_t n = 0;
    for (; n < most; n++) {
        struct packet *packet = acclib_packets_take(device);
        if (packet == NULL)
            break;
        int error = begin_send(c, packet);
        if (!error) {
            list_append(&c->sending, &packet->in_list);
            continue;
        }
        acclib_carrier_failed(device, c, packet->rank, error);
        acclib_packets_uncount(device, packet);
        if (packet->has_length)
            list_append(&c->failed, &packet->in_list); /* MPI reads it */
        else
            acclib_packet_free(packet);
    }

    return n > 0;
}

void acclib_carrier_send_one(accl_device *device, struct carrier *c)
{
    struct packets *p = device->packets;
    struct packet *packet = c->claim;
    bool done = false;
    int error = begin_send(c, packet);
    if (!error)
        error = c->mpi.calls->test(&c->mpi, &packet->request, &done);
    if (error)
        acclib_carrier_failed(device, c, packet->rank, error);
    if (error || done)
        return;

    c->claim = NULL;
    atomic_fetch_add(&p->outstanding, 1);
    atomic_fetch_add(&p->out_bytes, packet->bytes);
    list_append(&c->sending, &packet->in_list);
}

void acclib_carrier_send_all(accl_device *device, struct carrier *c)
{
    while (begin_sends(device, c, BURST))
        ;
    finish_sends(device, c);
}

bool acclib_carrier_sends_long(const struct carrier *c)
{
    for (const struct list_node *at = c->sending.first; at != NULL; at = at->next) {
        const struct packet *packet = LIST_ENTRY(at, const struct packet, in_list);
        if (packet->bytes > QUICK_MOST)
            return true;
    }

    return false;
}

/* --- both --- */

/* A packet that another thread queues at this moment may be missed. */
static bool has_queued(const accl_device *device)
{
    return atomic_load_explicit(&device->packets->queued, memory_order_relaxed) != 0;
}

bool acclib_carrier_move(accl_device *device, struct carrier *c, uint32_t rank)
{
    bool moved = has_queued(device) && begin_sends(device, c, BURST);
    moved |= rank == NO_RANK ? acclib_carrier_receive(device, c)
                             : acclib_carrier_receive_from(device, c, rank);

    /* Answers to what was received leave at once. */
    moved |= has_queued(device) && begin_sends(device, c, BURST);
    if (c->sending.first != NULL)
        moved |= finish_sends(device, c);

    return moved;
}

/* --- the end --- */

static void say_end(accl_device *device, struct carrier *c)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct packet *packet = i == device->rank ? NULL : calloc(1, sizeof *packet);
        if (packet == NULL)
            continue;
        packet->rank = i;
        if (c->mpi.calls->send(&c->mpi, packet->data, 0, (int)i, TAG_PACKET, &packet->request))
            acclib_packet_free(packet);
        else
            list_append(&c->ending, &packet->in_list);
    }
}

static void finish_ends(struct carrier *c)
{
    struct list_node *next;
    for (struct list_node *at = c->ending.first; at != NULL; at = next) {
        struct packet *packet = packet_of(at);
        bool done = false;
        next = at->next;
        if (!c->mpi.calls->test(&c->mpi, &packet->request, &done) && !done)
            continue;
        list_remove(&c->ending, at);
        acclib_packet_free(packet);
    }
}

static bool is_over(const accl_device *device, const struct carrier *c)
{
    if (!list_is_empty(&c->sending) || !list_is_empty(&c->receiving) ||
        !list_is_empty(&c->ending) || !list_is_empty(&c->moving) || !list_is_empty(&c->moved) ||
        !list_is_empty(&c->reducing))
        return false;

    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && !c->ended[i])
            return false;
    return true;
}

bool acclib_carrier_finish(accl_device *device, struct carrier *c, int64_t deadline)
{
    acclib_packets_leave(device);
    acclib_carrier_send_all(device, c);
    say_end(device, c);

    uint32_t idle = 0;
    while (!is_over(device, c)) {
        /* The other side may be at the same point, and wait until this one receives. */
        bool moved = acclib_carrier_move(device, c, NO_RANK);
        moved |= acclib_carried_reductions_test(c);
        finish_ends(c);
        if (moved)
            continue;
        if (c->broken || clock_now() > deadline) {
            acclib_carrier_withdraw_inboxes(c);
            return false;
        }
        if (++idle % EAGER_TURNS == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
    }

    return !c->broken && !c->reduction_failed;
}

void acclib_carrier_abandon(struct carrier *c)
{
    struct list *lists[] = {&c->sending, &c->receiving, &c->ending,  &c->moving,
                            &c->moved,   &c->failed,    &c->reducing};
    struct list_node *node;

    pthread_mutex_lock(&abandoned_lock);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        while ((node = list_pop(lists[i])) != NULL)
            list_append(&abandoned, node);
    acclib_carrier_free_inboxes(c, &abandoned);
    pthread_mutex_unlock(&abandoned_lock);
}
