/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.h: the messages in the rings of this rank: reads and checks an entry, copies its data,
 * and gives its room back to the sender.
 *
 * The rings are in shared memory, where any process of the job may write. An entry is read once and
 * checked; what is used is the copy, and data is copied only from places within this rank's rx
 * buffers and the sender's memory. Called by the executor. Nothing blocks.
 */
#ifndef ACCL_SHM_ARRIVAL_H
#define ACCL_SHM_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "accl/transport/shm/peer.h"
#include "accl/transport/transport.h"

/* A message that is the next in its ring, or was set aside: only copies of what can be wrong. */
struct arrival {
    struct ring_entry *shared; /* NULL if it was set aside */
    struct ring_entry entry;   /* its data only if it was set aside */
    uint32_t kind;
    const uint8_t *data; /* of one that is not in rx buffers or in the sender's memory */
};

/* Copies what an entry says, but for its number, kind and data. */
void acclib_entry_read(struct ring_entry *to, const struct ring_entry *shared);

/* The next entry of PEER's ring; false if there is none, or none that makes sense: peer->flaw. */
bool acclib_arrival_next(const accl_device *device, struct peer *peer, struct arrival *a);

/* A message that was set aside; false if its sender is moving it at this moment. With the stream
 * STREAM_TAKEN_BACK its sender has given it up. */
bool acclib_arrival_open(const accl_device *device, struct peer *peer,
                         struct unexpected *unexpected, struct arrival *a);

/* Takes one whose data is in the sender's memory; false if it is not mapped yet, or the sender has
 * withdrawn it. */
bool acclib_arrival_claim(const struct peer *peer, const struct arrival *a);

/* True if the memory of PEER is mapped; maps it if it can be. */
bool acclib_arrival_reach(accl_device *device, struct peer *peer);

/* Copies the data of a message. UNREAD: they are an array that this rank cannot read, or no longer;
 * DAMAGED: they are not where the entry says. */
enum arrival_copied { ARRIVAL_COPIED, ARRIVAL_UNREAD, ARRIVAL_DAMAGED };
enum arrival_copied acclib_arrival_copy(accl_device *device, struct peer *peer,
                                        const struct arrival *a, const struct wanted *to);

/* Leaves a message UNREAD whose sender is to offer a copy; false if that has given it up. */
bool acclib_arrival_leave(accl_device *device, struct peer *peer, const struct arrival *a);

/* Done with the next entry, which was taken: DONE, or LOST. Gives its room back. */
void acclib_arrival_pass(accl_device *device, struct peer *peer, const struct arrival *a,
                         enum entry_kind end);

/* The same for one that was set aside. */
void acclib_arrival_drop(accl_device *device, struct peer *peer, const struct arrival *a);

#endif
