/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that a rank keeps of each other one on its host, and what it finds in that one's memory
 * file: rx buffers and lanes. Any other process may write to the file: counts and places are
 * checked.
 */
#ifndef ACCL_SHM_PEER_H
#define ACCL_SHM_PEER_H

#include <pthread.h>

#include "accl/base/arena.h"
#include "accl/base/device.h"
#include "common/clock.h"

/* A rank that began to copy from another's memory has ended that within this time, unless it is
 * stopped. */
#define COPY_ENDS_NS (30 * CLOCK_SECOND)

/* An unexpected message: taken from its ring, or without one (to itself). */
struct unexpected {
    struct list_node in_peer;
    struct ring_entry entry;   /* a copy */
    struct ring_entry *shared; /* of a message that its sender still offers, else NULL */
    uint8_t *heap;             /* data of a message to itself, else NULL */
};

static inline struct unexpected *unexpected_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct unexpected, in_peer);
}

/* In place of a file: none came yet, or it was taken. */
enum { NO_FILE = -1, FILE_TAKEN = -2 };

struct peer {
    bool reached;                       /* through this transport; else nothing else is set */
    struct arena_header *_Atomic arena; /* NULL until attached */
    uint64_t arena_bytes;
    int64_t asked_at; /* when the receiver last asked for its memory */
    struct pool pool; /* its own */
    _Atomic int
        pidfd; /* of its process, or -1; also known of ranks that asked for this rank's file */
    _Atomic bool dead;
    pid_t readable; /* its process, if this rank can read its own memory; else 0 */
    /* Its memory file, which it gave the acceptor when the two were introduced; or NO_FILE. */
    _Atomic int handed;
    pid_t handed_by;

    /* Outgoing: its ring for this rank. */
    struct ring *out;
    uint64_t sent;     /* messages */
    uint64_t segments; /* that were sent */
    uint32_t slot_hint;
    struct list offers; /* struct offer of send.c: entries that are not to be used again yet */

    /* Incoming: this rank's ring for it. */
    struct ring *in;
    uint64_t received; /* messages taken from the ring */
    const char *flaw;  /* of the ring's next entry, which cannot be taken; NULL if it is sound */
    struct list unexpected; /* in the order of their arrival */
    uint32_t offered;       /* unexpected messages that their sender still offers */
};

struct shm {
    struct peer *peers;  /* by global rank */
    uint64_t job_hash;   /* of the job's name and the list of ranks */
    uint32_t generation; /* which of this rank's devices in the job this is */
    struct list left;    /* of lane_leave.c */
    uint64_t trial;      /* for others to read; see peer_memory.h */

    /* The thread of acceptor.c, and what it has. */
    int listener, waker;
    _Atomic bool stops; /* when it is woken next */
    pthread_t thread;
    struct acceptor *acceptor;
    bool runs;
};

static inline struct peer *peer_of(const accl_device *device, uint32_t rank)
{
    return &device->shm->peers[rank];
}

static inline uint32_t peer_rank(const accl_device *device, const struct peer *peer)
{
    return (uint32_t)(peer - device->shm->peers);
}

/* --- rx buffers of a receiver, and chains of them that hold one message --- */

/* Rx buffers that were taken: which ones is not read from the receiver's file again. */
struct slot_list {
    uint32_t n;
    uint8_t index[ARENA_RX_MAX];
};

/* Takes N idle rx buffers of PEER for SOURCE; false if there are not enough. */
bool acclib_slots_take(struct peer *peer, uint32_t n, uint32_t source, struct slot_list *list);

/* Gives them back. */
void acclib_slots_free(struct peer *peer, struct slot_list *list);

/* The receiver is done with a chain. */
void acclib_slots_release(const struct pool *pool, uint32_t chain);

/* --- unexpected messages: set aside until they are received, in the order of their arrival --- */

/* Takes UNEXPECTED, which was allocated with calloc(). */
void acclib_unexpected_append(struct peer *peer, struct unexpected *unexpected);

/* The first unexpected message of the communicator with KEY; NULL if there is none. */
struct unexpected *acclib_unexpected_find(const struct peer *peer, uint64_t key);

/* Takes UNEXPECTED off the list and frees it. */
void acclib_unexpected_remove(struct peer *peer, struct unexpected *unexpected);

/* --- lanes --- */

/* The lane of PEER for the communicator with KEY; NULL if it is not there, or not in its file. */
struct lane *acclib_lane_find_in(const struct peer *peer, uint64_t key);

#endif
