/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a device that all layers share. What belongs to one layer is behind a pointer.
 *
 * One thread at a time executes calls of a device, the executor (engine/executor.h). Communicators,
 * transports and the fields below are the executor's, unless a comment says otherwise.
 */
#ifndef ACCL_BASE_DEVICE_H
#define ACCL_BASE_DEVICE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accl.h"
#include "accl/base/arena.h"
#include "accl/base/communicator.h"
#include "accl/base/error.h"
#include "accl/base/heap.h"
#include "accl/base/rx_pool.h"
#include "accl/base/stream_queue.h"
#include "accl/base/ticks.h"
#include "common/list.h"

#define NO_RANK UINT32_MAX
#define EXCHANGE_WORDS 65536
/* Shared memory and packets. */
#define TRANSPORTS_MAX 2

struct packets;
struct shm;
struct transport;

/* A global rank: its address, and what reaches it. */
struct world_rank {
    struct accl_rank address;
    const struct transport *transport;
};

struct accl_device {
    _Atomic uint32_t refs; /* the handle and its requests */
    _Atomic bool closed;
    unsigned fork_count;         /* of the process that opened it */
    struct list_node in_process; /* all of this process; guarded by acclib_fork_lock() */

    /* Memory. */
    struct heap *heap;
    struct arena_header *header; /* of the own file */
    struct pool pool;
    uint32_t memory_mode;
    uint32_t stack;
    char job[256];

    /* The ranks, once the first communicator was made. */
    uint32_t rank, ranks;
    struct world_rank *world;
    const struct transport *transports[TRANSPORTS_MAX]; /* in use; up to the first NULL */
    bool forced_apart;                                  /* no rank shares memory with another */
    struct shm *shm;                                    /* of transport/shm */
    struct packets *_Atomic packets;                    /* of transport/packets, or NULL */
    struct list communicators;                          /* in the order of their ids */
    uint32_t communicator_count;
    /* Packets move only in the thread that MPI belongs to, while it is in a call. */
    _Atomic bool carries;

    /* Configuration. */
    uint32_t rx_count;
    uint64_t rx_bytes;
    uint64_t segment_size;
    uint32_t timeout_ms;
    uint32_t *exchange;
    uint32_t exchange_end;
    cpu_set_t core_set;     /* of this rank and those that it has reached */
    _Atomic unsigned cores; /* how many these are */

    /* The executor and its queue: engine/executor.c, engine/request.c. */
    _Atomic uint32_t running;  /* there is an executor */
    _Atomic uint32_t queued;   /* requests in the queue */
    _Atomic uint32_t interest; /* threads that wait for running to end */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct list queue;
    pthread_t service;
    bool service_runs;
    bool service_stops;
    int completion_fd;
    uint32_t last_retcode;
    uint64_t last_ticks;
    struct ticks ticks;
    int (*check)(void *);
    void *check_argument;

    /* The call that is executed. */
    bool checks;      /* the caller's own thread executes it: its check is called */
    int64_t deadline; /* 0 until it is first needed; see acclib_call_deadline() */
    uint64_t wakes;   /* ranks to wake, as bits by rank % 64; see transport/wake.h */
    char text[TEXT_BYTES];

    struct streams streams;
};

/* ACCL_OK if DEVICE is open, and was opened by this process; else a failure. Any thread. */
int acclib_device_check(accl_device *device);

/* Drops a reference; the last one frees what all layers share. Any thread. */
void acclib_device_release(accl_device *device);

/* Notes the text of the executed call's failure, and returns BITS. */
uint32_t acclib_call_fail(accl_device *device, uint32_t bits, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* When the executed call's time is over, on the clock of clock_now(). */
int64_t acclib_call_deadline(accl_device *device);

#endif
