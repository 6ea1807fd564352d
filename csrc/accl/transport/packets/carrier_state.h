/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the carrier of packets over MPI, and its moves. With its lock, unless it says so. */
#ifndef ACCL_PACKETS_CARRIER_STATE_H
#define ACCL_PACKETS_CARRIER_STATE_H

#include "accl/transport/packets/carrier.h"
#include "common/clock.h"

/* Most packets that a turn sends before it receives, and receives before it sends. */
#define BURST 64
/* Turns in vain before a thread lets others run. */
#define EAGER_TURNS 200
/* Each time that a thread awaits a packet of one rank so often, it looks at those of all. */
#define LOOKS_AT_ONE 16
/* Time that the thread sleeps if nothing moves. */
#define SHORTEST_REST_NS INT64_C(20000)
#define LONGEST_REST_NS CLOCK_MILLISECOND
/* Time that a device that is closed waits for messages in flight. */
#define FINISH_NS (2 * CLOCK_SECOND)

/* A packet, or the last message of a rank to another one, which is empty; a long packet; data: see
 * direct.h. */
enum { TAG_PACKET, TAG_DATA, TAG_LONG };
/* The length of a long one, which no packet is as short as. */
#define LENGTH_BYTES ((int)sizeof(uint64_t))

/* A receive for the next packet of packet->rank. */
struct inbox {
    struct packet *packet;
    bool open; /* posted: the memory is MPI's */
};

struct awaited;

struct carrier {
    struct mpi mpi;
    bool any_thread;
    pthread_t home; /* the one that may call MPI, unless any may */

    pthread_mutex_t lock;
    struct list sending, receiving, ending; /* struct packet, of MPI */
    struct packet *claim;                   /* for the next packet that leaves at once, or NULL */
    struct list moving, moved, failed;      /* data that come, that have come, that MPI failed at */
    struct inbox *inboxes;                  /* one for each other rank */
    void *requests;                         /* of MPI, of the inboxes */
    uint32_t n_inboxes, n_open;
    _Atomic uint32_t looks; /* of calls */
    bool *ended;            /* by rank: its last message has come */
    bool complete;          /* it ended with nothing in flight */
    bool broken;            /* MPI failed */

    struct list reducing;           /* struct carried_reduction */
    struct carried_reduction *room; /* for the next one, or NULL; the executor's */
    bool reduction_failed;          /* MPI may still use its communicator */

    _Atomic bool stopped;

    /* The thread. */
    pthread_mutex_t stop_lock;
    pthread_t thread;
    bool thread_runs;
    _Atomic bool stopping;
    _Atomic uint32_t others; /* threads that wait and carry themselves */
    pthread_mutex_t rest_lock;
    pthread_cond_t kick;
    bool kicked;
    _Atomic bool rests;
};

static inline struct carrier *carrier_of(const accl_device *device)
{
    struct packets *p = device->packets;
    return p != NULL ? atomic_load_explicit(&p->carrier, memory_order_acquire) : NULL;
}

/* True if this thread may call MPI. */
static inline bool carrier_may_call(const struct carrier *c)
{
    return c->any_thread || pthread_equal(c->home, pthread_self());
}

/* Posts the receives for packets; false if out of memory. */
bool acclib_carrier_open_inboxes(accl_device *device, struct carrier *c);
/* Takes them back, as far as MPI does so. */
void acclib_carrier_withdraw_inboxes(struct carrier *c);
/* Frees them; those that MPI still has go to ABANDONED. */
void acclib_carrier_free_inboxes(struct carrier *c, struct list *abandoned);

/* MPI failed: for RANK, or for all with NO_RANK. */
void acclib_carrier_failed(accl_device *device, struct carrier *c, uint32_t rank, int error);

/* Receives what has come; whether anything moved. */
bool acclib_carrier_receive(accl_device *device, struct carrier *c);
/* The same for one packet of RANK, if that is all that may come. MPI moves the packets of others
 * meanwhile, but is asked once. */
bool acclib_carrier_receive_from(accl_device *device, struct carrier *c, uint32_t rank);

/* The same until a packet of A's rank has come, or LOOKS times: whether that was the message A,
 * whose data are at their place then. */
bool acclib_carrier_receive_short(accl_device *device, struct carrier *c, struct awaited *a,
                                  uint32_t looks);

/* Receives and sends without waiting, from RANK or NO_RANK: from all; whether anything moved. */
bool acclib_carrier_move(accl_device *device, struct carrier *c, uint32_t rank);

/* Gives MPI the packet c->claim. */
void acclib_carrier_send_one(accl_device *device, struct carrier *c);

/* Gives MPI all that is queued. */
void acclib_carrier_send_all(accl_device *device, struct carrier *c);

/* True if long packets are leaving, which MPI may have to be called for soon. Short ones mostly
 * leave without that, and to wake a thread for them takes longer than they do. */
bool acclib_carrier_sends_long(const struct carrier *c);

/* The last messages, and waiting for those of others: whether nothing is in flight. */
bool acclib_carrier_finish(accl_device *device, struct carrier *c, int64_t deadline);

/* Leaves packets that MPI may still read or write to it, forever. */
void acclib_carrier_abandon(struct carrier *c);

#endif
