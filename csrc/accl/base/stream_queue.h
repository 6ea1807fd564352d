/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's streams: what the engine puts out, and what it takes in.
 *
 * All functions may be called by any thread; each device has a lock for its streams. None waits,
 * but for the user's hook.
 */
#ifndef ACCL_STREAM_QUEUE_H
#define ACCL_STREAM_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accl.h"
#include "common/list.h"

/* Bytes that a queue holds at most, unless a single message has more. */
#define STREAM_MOST ((size_t)64 << 20)

enum stream_loss_cause {
    STREAM_LOST_NO_MEMORY, /* out of memory here */
    STREAM_LOST_DAMAGED,   /* what describes the data was overwritten */
};

/* Puts that were lost; the reader at that place gets an error. */
struct stream_loss {
    uint32_t puts;                /* 0: nothing was lost */
    enum stream_loss_cause cause; /* the rest is of the first: why it was lost, */
    uint32_t stream, source;      /* its stream, and the global rank that it came from */
    uint64_t bytes;
};

struct stream_chunk {
    struct list_node in_queue;
    size_t bytes, taken;
    uint32_t stream;
    struct stream_loss loss; /* after it */
    _Alignas(8) uint8_t data[];
};

struct stream_queue {
    struct list chunks;
    size_t bytes;
    struct stream_loss loss; /* before the first */
};

struct streams {
    pthread_mutex_t lock;
    int mode; /* enum accl_stream_mode */
    accl_stream_hook hook;
    void *hook_argument;
    struct stream_queue input, output;
};

void acclib_streams_init(struct streams *streams);
/* Frees what the queues hold. */
void acclib_streams_clear(struct streams *streams);
void acclib_streams_destroy(struct streams *streams);

void acclib_streams_set_mode(struct streams *streams, int mode, accl_stream_hook hook,
                             void *argument);

/* True if BYTES more can be delivered now. */
bool acclib_stream_has_room(struct streams *streams, size_t bytes);

/* The engine puts out a copy of DATA. False if out of memory: the caller says so. */
bool acclib_stream_deliver(struct streams *streams, uint32_t stream, const void *data,
                           size_t bytes);

/* The same in two steps: room for the data, NULL if out of memory; then what cannot fail, and takes
 * the chunk. */
struct stream_chunk *acclib_stream_chunk_new(uint32_t stream, uint64_t bytes);
void acclib_stream_give(struct streams *streams, struct stream_chunk *chunk);

/* Notes puts that were lost, after what is in the queue now. */
void acclib_stream_lose(struct streams *streams, const struct stream_loss *lost);
void acclib_stream_describe_loss(const struct stream_loss *loss, char *text, size_t space);

/* Moves up to BYTES of input to DATA; how many there were. Stops at a loss, which LOSS gets. */
size_t acclib_stream_take(struct streams *streams, uint8_t *data, size_t bytes,
                          struct stream_loss *loss);

/* Adds input. ACCL_INVALID if the queue is full, ACCL_NO_MEMORY. */
int acclib_stream_push(struct streams *streams, const void *data, size_t bytes);

/* ACCL_OK: the next output is in DATA. ACCL_PENDING: there is none. ACCL_INVALID: SPACE is too
 * small for its *BYTES. ACCL_NO_MEMORY, ACCL_CALL_FAILED: LOSS was in its place, by its cause. */
int acclib_stream_pull(struct streams *streams, uint32_t *stream, void *data, size_t space,
                       size_t *bytes, struct stream_loss *loss);

#endif
