/* SPDX-License-Identifier: BSD-3-Clause */
/* What carries packets over MPI, and moving them. With the carrier's lock, unless it says so. */
#ifndef ACCL_PACKETS_CARRIER_STATE_H
#define ACCL_PACKETS_CARRIER_STATE_H

#include "accl/transport/packets/state.h"
#include "common/clock.h"

/* Turns in vain before a thread lets others run. */
#define EAGER_TURNS 200
/* How long the thread rests if nothing moves. */
#define SHORTEST_REST_NS INT64_C(20000)
#define LONGEST_REST_NS CLOCK_MILLISECOND
/* How long a device that is closed waits for messages in flight. */
#define FINISH_NS (2 * CLOCK_SECOND)

struct carrier {
    struct mpi mpi;
    bool any_thread;
    pthread_t home; /* the one that may call MPI, unless any may */

    pthread_mutex_t lock;
    struct list sending, receiving, ending; /* struct parcel_post, of MPI */
    struct list moving, moved, failed;      /* data that come, that have come, that MPI failed at */
    bool *ended;                            /* by rank: its last message has come */
    bool complete;                          /* it ended with nothing in flight */
    bool broken;                            /* MPI failed */
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

/* Receives and sends without waiting; whether anything moved. */
bool acclib_carrier_move(accl_device *device, struct carrier *c);

/* Gives MPI all that is queued. */
void acclib_carrier_send_all(accl_device *device, struct carrier *c);

/* The last messages, and waiting for those of others: whether nothing is in flight. */
bool acclib_carrier_finish(accl_device *device, struct carrier *c, int64_t deadline);

/* Leaves packets that MPI may still read or write to it, for ever. */
void acclib_carrier_abandon(struct carrier *c);

#endif
