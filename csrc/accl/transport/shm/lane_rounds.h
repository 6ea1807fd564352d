/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that go in rounds: for operands that are not in the memory file, so that others cannot read
 * them where they are.
 *
 * A lane has a window of a few slots, in its owner's memory file. The owner fills them in turn and
 * shows how many rounds it has filled; a member that reads them shows how many it has taken, and
 * the owner fills a slot again after all readers have taken it. So the data stay in the caches, and
 * both sides copy at the same time.
 *
 * Nobody touches user's memory of another rank. Slots hold the data of one call until every member
 * is done with it; after a failure the communicator makes no further call, and the window stays
 * until all members have left it: so a late rank reads what it would have read in time.
 *
 * The executor calls these functions; those that return error bits may wait.
 */
#ifndef ACCL_LANE_ROUNDS_H
#define ACCL_LANE_ROUNDS_H

#include "accl/transport/shm/lane.h"

/* At least 64 bytes for each of RANKS_MAX members, in a slot. */
#define LANE_ROUND_BYTES (UINT64_C(128) << 10)
#define LANE_ROUNDS_AHEAD 4

/* In place of the member that reads what a rank fills: all others do. */
#define LANE_ALL_READ UINT32_MAX

/* The slot for ROUND (from 0) of call NUMBER, once READER has taken what is in it. */
uint32_t acclib_rounds_room(accl_device *device, const struct operation *op, uint64_t number,
                            uint64_t round, uint32_t reader, uint8_t **room);
/* That slot is filled. */
void acclib_rounds_filled(accl_device *device, const struct operation *op, uint64_t number,
                          uint64_t round);

/* Waits until member INDEX has filled the slot for ROUND of call NUMBER, which is *SLOT then, of
 * LANE_ROUND_BYTES. */
uint32_t acclib_rounds_wait(accl_device *device, const struct operation *op, uint32_t index,
                            uint64_t number, uint64_t round, const uint8_t **slot);
/* This rank reads no slot for ROUND any more. */
void acclib_rounds_taken(accl_device *device, const struct operation *op, uint64_t number,
                         uint64_t round);

#endif
