/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a member's lane in its memory file. */
#ifndef ACCL_LANE_FIND_H
#define ACCL_LANE_FIND_H

#include "accl/transport/shm/peer.h"

/* The lane of PEER for the communicator with KEY; NULL if it is not there, or not in its file. */
struct lane *acclib_lane_find_in(const struct peer *peer, uint64_t key);

#endif
