/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators, as all layers see them. engine/communicator.c makes them. Only the executor
 * touches one.
 */
#ifndef ACCL_BASE_COMMUNICATOR_H
#define ACCL_BASE_COMMUNICATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "accl.h"
#include "common/list.h"

#define RANKS_MAX 1024
/* Calls that a communicator has notes of: more than twice as many as a rank can be ahead. */
#define CALL_NOTES 16

struct hosts;
struct lanes;
struct transport;

struct member {
    uint32_t rank;              /* global */
    uint32_t inbound, outbound; /* sequence numbers */
};

struct communicator {
    struct list_node in_device;
    uint32_t id, n, me;
    uint64_t key; /* the same on all members */
    uint32_t exchange_address;
    struct member *members;
    struct accl_rank *ranks;
    uint32_t *world;                   /* global ranks, for the key */
    const struct transport *transport; /* which its collectives go through */
    uint32_t makes;                    /* bits of operations that this one has functions for */
    struct lanes *lanes;               /* of transport/shm; one block of malloc(), or NULL */
    struct hosts *hosts;               /* of transport/hosts, or NULL */
    struct communicator *outer;        /* which this one serves, if it is none of the user's */
    uint32_t *shown;                   /* numbers of its members in that one */
    uint64_t calls;                    /* collectives made */
    uint64_t current;                  /* the call that is executed, if it has begun */
    uint16_t notes[CALL_NOTES];        /* of the last calls; see transport/call_notes.h */
    uint32_t signature;                /* of the call that is executed and of all before it */
    uint32_t broken;                   /* error bits that ended it */
    bool met;                          /* the transport has found all members */
    bool unmade;                       /* making it failed, so no other member is to find it */
};

/* The number of member INDEX, and that of the executed call, as texts have them. */
static inline uint32_t communicator_shown(const struct communicator *comm, uint32_t index)
{
    return comm->shown != NULL && index < comm->n ? comm->shown[index] : index;
}

static inline uint64_t communicator_shown_call(const struct communicator *comm, uint64_t number)
{
    return comm->outer != NULL ? comm->outer->calls : number;
}

static inline struct communicator *communicator_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct communicator, in_device);
}

#endif
