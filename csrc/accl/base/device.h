/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a device that all layers share. What belongs to one layer is behind a pointer.
 *
 * One thread at a time executes calls of a device, the executor (transport/executor.h).
 * Communicators, transports and the fields below are the executor's, unless a comment says
 * otherwise.
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
/* Asynchronous calls that can wait for other ranks at the same time. */
#define SERVICES_MAX 128

struct packets;
struct shm;
struct transport;

/* A global rank: its address, and what reaches it. */
struct world_rank {
    struct accl_rank address;
    const struct transport *transport;
};

enum ticket_kind {
    TICKET_LOCAL,
    TICKET_SEND,
    TICKET_RECEIVE,
    TICKET_COLLECTIVE,
    TICKET_BARRIER,
    TICKET_FENCE,
    TICKET_SETTING,
};

/* Device addresses [FROM, TO). */
struct memory_range {
    uint64_t from, to;
    bool written;
};

/* A call that is not finished: transport/ticket.h. */
struct ticket {
    struct list_node in_device;
    const struct accl_call *call;
    struct accl_request *request; /* NULL if the caller's own thread executes it */
    enum ticket_kind kind;
    bool takes_stream, puts_stream;
    bool started; /* some thread has it */
    bool waits;   /* and has let go of the executor */
    uint32_t ranges;
    struct memory_range memory[3];
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
    struct list communicators;   /* by id; only the executor changes it, with the lock held */
    uint32_t communicator_count; /* made so far, freed ones too: the next one's number */
    struct list rank_lists;      /* of engine/communicator.c */
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

    /* The executor, and calls that are not finished: transport/executor.c, transport/ticket.c,
     * engine/request.c. The lock guards the lists, and what belongs to the services. */
    _Atomic uint32_t running;    /* there is an executor */
    _Atomic uint32_t unfinished; /* tickets */
    _Atomic uint32_t interest;   /* threads that want to be the executor */
    pthread_mutex_t lock;
    pthread_cond_t changed;   /* a ticket has come, or gone */
    struct list candidates;   /* threads that want to be the executor */
    struct list tickets;      /* struct ticket, in the order of submission */
    struct ticket own_ticket; /* of a call that was executed at once, and waits */
    /* The call of TICKET is going to wait, or goes on; with the lock held. May be NULL. */
    void (*call_waits)(accl_device *device, const struct ticket *ticket);
    pthread_t services[SERVICES_MAX]; /* threads that execute asynchronous calls */
    uint32_t service_count;
    uint32_t service_ready; /* those whose call does not wait */
    bool service_stops;
    int completion_fd;
    uint32_t last_retcode;
    uint64_t last_ticks;
    struct ticks ticks;
    int (*check)(void *);
    void *check_argument;

    /* The call that is executed. */
    const struct accl_call *call;
    struct ticket *ticket; /* NULL if it was executed at once, and has not waited so far */
    bool checks;           /* the caller's own thread executes it: its check is called */
    int64_t deadline;      /* 0 until it is first needed; see acclib_call_deadline() */
    bool lingers;          /* a rank that has stopped may still touch memory of it */
    uint64_t wakes;        /* ranks to wake, as bits by rank % 64; see transport/wake.h */
    char text[TEXT_BYTES];

    struct streams streams;
};

/* ACCL_OK if DEVICE is open, and was opened by this process; else a failure. Any thread. */
int acclib_device_check(accl_device *device);

/* NULL if there is no communicator with that number. The executor, or with device->lock held. */
struct communicator *acclib_communicator_find(const accl_device *device, uint32_t id);

/* Drops a reference; the last one frees what all layers share. Any thread. */
void acclib_device_release(accl_device *device);

/* Notes the text of the executed call's failure, and returns BITS. */
uint32_t acclib_call_fail(accl_device *device, uint32_t bits, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* When the executed call's time is over, on the clock of clock_now(). */
int64_t acclib_call_deadline(accl_device *device);

#endif
