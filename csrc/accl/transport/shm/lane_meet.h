/* SPDX-License-Identifier: BSD-3-Clause */
/* How the members of a communicator find each other's lanes. */
#ifndef ACCL_LANE_MEET_H
#define ACCL_LANE_MEET_H

#include "accl/transport/shm/lane.h"

/* Makes this rank's lane of COMM in its memory file, under the communicator's key. A status. */
int acclib_lane_join(accl_device *device, struct communicator *comm);

/* Before the first call of a communicator: waits until every member has found all lanes, so that
 * none leaves before. Error bits. */
uint32_t acclib_lane_meet(accl_device *device, const struct operation *op);

#endif
