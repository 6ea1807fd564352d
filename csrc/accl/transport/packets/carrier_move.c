/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn of carrying packets as MPI messages. */
#include <limits.h>
#include <stdlib.h>

#include "accl/transport/packets/carrier_state.h"
#include "accl/transport/packets/direct_names.h"
#include "accl/transport/packets/handover.h"

/* A packet, or the last message of a rank to another one, which is empty; data: see direct.h. */
enum { TAG_PACKET, TAG_DATA };
/* How many packets a turn receives or sends before it does the other. */
#define BURST 64
/* Sends that are not over and may be left behind by later ones, in one turn. */
#define TEST_MOST 8

_Static_assert(ACCL_PACKET_MAX <= INT_MAX, "a packet is one message");

/* Packets that MPI did not give back when its carrier ended, of all devices: MPI may use their
 * memory as long as the process lives. */
static struct list abandoned;
static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;

/* MPI failed: for RANK, or for all with NO_RANK. */
static void failed(accl_device *device, struct carrier *c, uint32_t rank, int error)
{
    char text[128];
    acclib_mpi_describe(&c->mpi, error, text, sizeof text);
    if (rank == NO_RANK)
        c->broken = true;

    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && (rank == NO_RANK || rank == i))
            acclib_packets_lost(device, i, text);
}

/* --- sending --- */

/* Frees the packets that have left. */
static bool finish_sends(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    uint32_t waiting = 0;
    bool moved = false;

    for (struct list_node *at = c->sending.first; at != NULL && waiting < TEST_MOST; at = next) {
        struct parcel_post *post = post_of(at);
        bool done = false;
        next = at->next;
        int error = c->mpi.calls->test(&c->mpi, &post->request, &done);
        if (error)
            failed(device, c, post->rank, error);
        if (!error && !done) {
            waiting++;
            continue;
        }
        list_remove(&c->sending, at);
        acclib_packets_sent(device, post);
        moved = true;
    }

    return moved;
}

static bool begin_sends(accl_device *device, struct carrier *c, uint32_t most)
{
    uint32_t n = 0;
    for (; n < most; n++) {
        struct parcel_post *post = acclib_packets_take(device);
        if (post == NULL)
            break;
        bool is_data = post->lent != NULL;
        int error =
            c->mpi.calls->send(&c->mpi, is_data ? post->lent : post->data, (int)post->bytes,
                               (int)post->rank, is_data ? TAG_DATA : TAG_PACKET, &post->request);
        if (!error) {
            list_append(&c->sending, &post->in_list);
            continue;
        }
        failed(device, c, post->rank, error);
        acclib_packets_sent(device, post);
    }

    return n > 0;
}

void acclib_carrier_send_all(accl_device *device, struct carrier *c)
{
    while (begin_sends(device, c, BURST))
        ;
    finish_sends(device, c);
}

/* --- receiving --- */

/* A message that there is no memory for, or that no rank of this device sends: its data is lost. */
static void drop(accl_device *device, struct carrier *c, const struct mpi_envelope *e,
                 const char *why)
{
    union mpi_request request;
    bool done = false;
    int error = c->mpi.calls->receive(&c->mpi, NULL, 0, e->source, e->tag, &request);

    /* It is too long for the room, which is an error that changes nothing else. */
    for (int i = 0; !error && !done && i < EAGER_TURNS; i++)
        error = c->mpi.calls->test(&c->mpi, &request, &done);
    if (e->source >= 0 && (uint32_t)e->source < device->ranks)
        acclib_packets_lost(device, (uint32_t)e->source, why);
}

static void begin_receive(accl_device *device, struct carrier *c, const struct mpi_envelope *e)
{
    bool known = e->source >= 0 && (uint32_t)e->source < device->ranks && e->bytes >= 0 &&
                 (uint64_t)e->bytes <= ACCL_PACKET_MAX && e->tag == TAG_PACKET;
    if (!known) {
        drop(device, c, e, "it sent a message that is no packet");
        return;
    }

    struct parcel_post *post = acclib_post_new(&device->packets->pool, (uint64_t)e->bytes);
    if (post == NULL) {
        drop(device, c, e, "out of memory (a packet of it)");
        return;
    }

    post->rank = (uint32_t)e->source;
    int error =
        c->mpi.calls->receive(&c->mpi, post->data, e->bytes, e->source, e->tag, &post->request);
    if (error) {
        failed(device, c, post->rank, error);
        acclib_post_free(post);
        return;
    }

    list_append(&c->receiving, &post->in_list);
}

/* The data that a packet announced, which the sender gave to MPI right after it. */
static void begin_data(accl_device *device, struct carrier *c)
{
    struct list_node *node;
    while ((node = list_pop(&device->packets->announced)) != NULL) {
        struct parcel_post *post = post_of(node);
        int error = c->mpi.calls->receive(&c->mpi, post->lent, (int)post->bytes, (int)post->rank,
                                          TAG_DATA, &post->request);
        list_append(error ? &c->failed : &c->moving, node);
        if (error)
            failed(device, c, post->rank, error);
    }
}

static void deliver(accl_device *device, struct carrier *c, struct parcel_post *post)
{
    if (!post->bytes) {
        c->ended[post->rank] = true;
        acclib_post_free(post);
        return;
    }

    acclib_packets_arrived(device, post->rank, post);
    begin_data(device, c);
}

static void test_data(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    for (struct list_node *at = c->moving.first; at != NULL; at = next) {
        struct parcel_post *post = post_of(at);
        bool done = false;
        next = at->next;
        int error = c->mpi.calls->test(&c->mpi, &post->request, &done);
        if (!error && !done)
            continue;
        list_remove(&c->moving, at);
        list_append(error ? &c->failed : &c->moved, at);
        if (error)
            failed(device, c, post->rank, error);
    }
}

static void finish_data(accl_device *device, struct carrier *c)
{
    struct list_node *node;
    while ((node = list_pop(&c->moved)) != NULL)
        acclib_direct_arrived(device, post_of(node));
}

/* Whether a packet of the same rank came before AT and is not complete yet. */
static bool is_behind(struct list_node *at, uint32_t rank)
{
    for (struct list_node *before = at->previous; before != NULL; before = before->previous)
        if (post_of(before)->rank == rank)
            return true;
    return false;
}

static bool finish_receives(accl_device *device, struct carrier *c)
{
    struct list_node *next;
    bool moved = false;

    for (struct list_node *at = c->receiving.first; at != NULL; at = next) {
        struct parcel_post *post = post_of(at);
        bool done = false;
        next = at->next;
        if (is_behind(at, post->rank))
            continue;
        int error = c->mpi.calls->test(&c->mpi, &post->request, &done);
        if (!error && !done)
            continue;
        list_remove(&c->receiving, at);
        moved = true;
        if (error) {
            failed(device, c, post->rank, error);
            acclib_post_free(post);
        } else {
            deliver(device, c, post);
        }
    }

    return moved;
}

static bool receive_packets(accl_device *device, struct carrier *c)
{
    bool moved = false, empty = false;
    test_data(device, c);
    for (uint32_t n = 0; n < BURST && !c->broken && !empty; n++) {
        struct mpi_envelope envelope;
        bool found;
        int error = c->mpi.calls->probe(&c->mpi, c->mpi.any_source, TAG_PACKET, &found, &envelope);
        if (error)
            failed(device, c, NO_RANK, error);
        empty = error || !found;
        if (empty)
            break;
        begin_receive(device, c, &envelope);
        finish_receives(device, c);
        moved = true;
    }

    if (c->receiving.first != NULL)
        moved |= finish_receives(device, c);

    /* Nothing takes the data back that came before them. */
    if (empty && c->moved.first != NULL && c->receiving.first == NULL) {
        finish_data(device, c);
        moved = true;
    }

    return moved;
}

bool acclib_carrier_move(accl_device *device, struct carrier *c)
{
    bool moved = begin_sends(device, c, BURST);
    moved |= receive_packets(device, c);

    /* Answers to what was received leave at once. */
    moved |= begin_sends(device, c, BURST);
    if (c->sending.first != NULL)
        moved |= finish_sends(device, c);

    return moved;
}

/* --- the end --- */

static void say_end(accl_device *device, struct carrier *c)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct parcel_post *post = i == device->rank ? NULL : calloc(1, sizeof *post);
        if (post == NULL)
            continue;
        post->rank = i;
        if (c->mpi.calls->send(&c->mpi, post->data, 0, (int)i, TAG_PACKET, &post->request))
            acclib_post_free(post);
        else
            list_append(&c->ending, &post->in_list);
    }
}

static void finish_ends(struct carrier *c)
{
    struct list_node *next;
    for (struct list_node *at = c->ending.first; at != NULL; at = next) {
        struct parcel_post *post = post_of(at);
        bool done = false;
        next = at->next;
        if (!c->mpi.calls->test(&c->mpi, &post->request, &done) && !done)
            continue;
        list_remove(&c->ending, at);
        acclib_post_free(post);
    }
}

static bool is_over(const accl_device *device, const struct carrier *c)
{
    if (!list_is_empty(&c->sending) || !list_is_empty(&c->receiving) ||
        !list_is_empty(&c->ending) || !list_is_empty(&c->moving) || !list_is_empty(&c->moved))
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
        bool moved = acclib_carrier_move(device, c);
        finish_ends(c);
        if (moved)
            continue;
        if (c->broken || clock_now() > deadline)
            return false;
        if (++idle % EAGER_TURNS == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
    }

    return !c->broken;
}

void acclib_carrier_abandon(struct carrier *c)
{
    struct list *lists[] = {&c->sending, &c->receiving, &c->ending,
                            &c->moving,  &c->moved,     &c->failed};
    struct list_node *node;

    pthread_mutex_lock(&abandoned_lock);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        while ((node = list_pop(lists[i])) != NULL)
            list_append(&abandoned, node);
    pthread_mutex_unlock(&abandoned_lock);
}
