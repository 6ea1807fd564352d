/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses of memory that a member posted: by whom, and until when.
 *
 * A post of a call with much data has addresses of the user's memory. Others may read and write
 * there between acclib_lane_use() and acclib_lane_used() or acclib_lane_finish(), if
 * acclib_lane_may_use() in between says so; they wait for nothing meanwhile. A call that fails does
 * not return before acclib_lane_withdraw(), after which nobody does so any more.
 *
 * A member writes `uses` and then reads `gave_up` of the owner, and the owner writes `gave_up` and
 * then reads `uses`, with a full fence between the two on both sides: either the owner sees the
 * user, and waits for it, or the user sees that the owner gave up, and touches nothing. The same
 * holds for the owner that moves its source (lane_keep.h) and a member that then reads where it is.
 * docs/design/accl.md has the proof, tests/accl/unit/test_lane_use_model.py a model.
 *
 * The executor calls these functions.
 */
#ifndef ACCL_LANE_USE_H
#define ACCL_LANE_USE_H

#include "accl/transport/shm/lane.h"

/* This rank is going to touch memory that others posted for call NUMBER. */
void acclib_lane_use(const struct communicator *comm, uint64_t number);

/* 0, or PEER_GAVE_UP_ERROR (or what explains that) if member INDEX gave up call NUMBER or an
 * earlier one. */
uint32_t acclib_lane_may_use(accl_device *device, struct communicator *comm, uint32_t index,
                             uint64_t number);

/* The offset of what member INDEX has posted as the source of call NUMBER, which may have been
 * moved before acclib_lane_use(). It is still to be checked. */
uint64_t acclib_lane_source(const struct communicator *comm, uint32_t index, uint64_t number);

/* This rank touches nothing of others. */
void acclib_lane_used(const struct communicator *comm);

/* Call NUMBER failed here: tells the members, and waits until none of them touches what this rank
 * posted for it. A member that does not stop, as one in a debugger, is named in the text. */
void acclib_lane_withdraw(accl_device *device, struct communicator *comm, uint64_t number);

#endif
