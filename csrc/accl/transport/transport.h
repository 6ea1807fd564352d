/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface of the transports, which reach other ranks: functions, and types that users share.
 *
 * Each global rank is reached by one transport (device->world[rank].transport), and each
 * communicator has one for its collectives (comm->transport). engine/world.c chooses them; no other
 * code depends on which one it is. A rank's messages to itself go through a transport too.
 * transport/hosts is for collectives alone: of its functions only join() to collective() and
 * give_up() are there.
 *
 * The executor calls these functions, unless a comment says otherwise. Those that return error bits
 * may wait, with transport/wait.h: until the call's deadline, the end of a peer, or the caller's
 * interrupt check. They note the reason with acclib_call_fail().
 */
#ifndef ACCL_TRANSPORT_H
#define ACCL_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "accl/base/device.h"
#include "accl/base/operation.h"
#include "common/text.h"

struct waiter;

/* A message to be sent: COUNT elements of DATA, which is in this rank's memory file, NULL, or an
 * array of the caller. */
struct outgoing {
    const uint8_t *data;
    bool is_array;
    uint64_t count;
    uint32_t source_type, wire_type;
    uint32_t tag;
    uint32_t stream; /* number + 1 of a stream put, else 0 */
    struct operand_copies *copies;
};

/* The receive call for a message. */
struct wanted {
    uint8_t *data;
    uint64_t count;
    uint32_t type, wire_type;
    uint32_t tag;
    struct operand_copies *copies;
};

/* A message that waits to be received. */
struct pending {
    uint64_t key;    /* of the communicator */
    uint32_t source; /* global rank */
    uint32_t tag, sequence, stream;
    uint64_t bytes;
    uint32_t segments; /* rx buffers that it takes, or would take */
};
typedef void (*pending_visit)(void *argument, const struct pending *pending);

struct transport {
    const char *where; /* "in shared memory", for texts */

    /* Begins: device->world is known. A status of accl.h; on failure close() follows. */
    int (*open)(accl_device *device);
    /* Ends, after the executor has. Tells peers, and frees everything. */
    void (*close)(accl_device *device);
    /* In a forked child, with acclib_fork_lock() held: closes the child's copies of sockets. */
    void (*forked)(accl_device *device);

    /* A communicator was made, whose collectives go through this transport. A status. */
    int (*join)(accl_device *device, struct communicator *comm);
    /* It is no longer used: frees what join() has made besides comm->lanes. May be NULL. */
    void (*leave)(accl_device *device, struct communicator *comm);
    /* Before the first use: waits until global rank RANK is reachable, and watches its process. */
    uint32_t (*meet)(accl_device *device, uint32_t rank);

    /* Sends to member TO of COMM; returns when DATA may change. */
    uint32_t (*send)(accl_device *device, struct communicator *comm, uint32_t to,
                     const struct outgoing *message);
    /* Receives the next message of member FROM. */
    uint32_t (*receive)(accl_device *device, struct communicator *comm, uint32_t from,
                        const struct wanted *message);
    /* True if collective() has a function for OPERATION; the engine refuses all others. */
    bool (*makes)(uint32_t operation);
    /* True if operands and results of such a collective, or of a message, may be the caller's
     * arrays; else the engine copies them to the memory file. May be NULL: false. */
    bool (*takes_arrays)(const accl_device *device, const struct operation *op);
    /* Others have no part of operands after a call, whatever its end, so that these may be the
     * host's pages of buffers; collective() heeds op->copies. */
    bool takes_host_pages;
    /* Executes call NUMBER (from 1) of op->comm, which has several members. */
    uint32_t (*collective)(accl_device *device, const struct operation *op, uint64_t number);
    /* True if the carrier of messages makes this reduction itself, which depends only on values
     * equal on all members; and makes it, once all are known to make the same call. May be NULL. */
    bool (*reduces)(const accl_device *device, const struct operation *op);
    uint32_t (*reduce)(accl_device *device, const struct operation *op);
    /* A collective failed here: the members of COMM are told. */
    void (*give_up)(accl_device *device, struct communicator *comm);

    /* Takes stream puts that have arrived. */
    void (*progress)(accl_device *device);
    /* Moves messages without waiting, if the transport has some that the calling thread may move;
     * whether one moved. Any thread. May be NULL. */
    bool (*carry)(accl_device *device);
    /* The executed call ends: what it sends must leave without more calls. May be NULL. */
    void (*flush)(accl_device *device);
    /* Drops all messages that wait to be received. */
    void (*reset)(accl_device *device);
    /* Calls VISIT for each of them. */
    void (*visit)(accl_device *device, pending_visit visit, void *argument);

    /* Returns the error bits that end a wait for global rank RANK, 0 if it is there. With MUST_STAY
     * a rank that has closed its device counts too. */
    uint32_t (*inspect)(struct waiter *w, uint32_t rank, bool must_stay);
    /* The same in a collective: for w->peer, which must stay, and all members of w->comm. */
    uint32_t (*inspect_members)(struct waiter *w);
    /* The core on which RANK runs at this moment, + 1; 0 if that is not known. May be NULL. */
    uint32_t (*core)(const accl_device *device, uint32_t rank);
    /* Wakes the ranks in WAKES (bits by rank % 64) that sleep; the caller has made a full fence.
     * Any thread. May be NULL. */
    void (*wake)(accl_device *device, uint64_t wakes);

    /* Appends a line on what RANK waits for. Any thread. */
    void (*describe)(accl_device *device, uint32_t rank, struct text *out);
};

/* For all transports in use. */
void acclib_transport_progress(accl_device *device);
bool acclib_transport_carry(accl_device *device);
void acclib_transport_flush(accl_device *device);
void acclib_transport_reset(accl_device *device);
/* The transport that makes this reduction itself, or NULL. */
const struct transport *acclib_transport_reducer(const accl_device *device,
                                                 const struct operation *op);
void acclib_transport_visit(accl_device *device, pending_visit visit, void *argument);

/* Errors that all transports have, with their texts. */

/* The executed receive call wants another type or number of elements than the message has. */
struct message_shape {
    uint32_t type;
    uint64_t bytes;
    uint32_t tag, sequence;
};
uint32_t acclib_transport_mismatch(accl_device *device, const struct message_shape *message,
                                   uint32_t wanted_type, uint64_t wanted_count);

/* The receiver of the executed stream put is out of memory. */
uint32_t acclib_transport_put_lost(accl_device *device, const struct communicator *comm,
                                   uint32_t to, uint32_t stream, uint64_t bytes);

#endif
