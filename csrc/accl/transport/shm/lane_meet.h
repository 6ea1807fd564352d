/* SPDX-License-Identifier: BSD-3-Clause */
/* Search of a communicator's members for each other's lanes. */
#ifndef ACCL_LANE_MEET_H
#define ACCL_LANE_MEET_H

#include "accl/transport/shm/lane.h"

/* Makes this rank's lane of COMM in its memory file, under the communicator's key. A status. */
int acclib_lane_join(accl_device *device, struct communicator *comm);

/* Before the first call of a communicator: waits until every member has started. Each then has this
 * rank's memory file, or will find it, so this rank may leave when its own calls are done. Members
 * need not have made the communicator. Error bits. */
uint32_t acclib_lane_meet(accl_device *device, const struct operation *op);

/* Waits until member INDEX has made the communicator: its lane is known then. Error bits. */
uint32_t acclib_lane_find(accl_device *device, const struct operation *op, uint32_t index);

/* Looks for all lanes that are not known yet, without waiting; whether all are known. */
bool acclib_lane_look(const accl_device *device, const struct communicator *comm);

#endif
