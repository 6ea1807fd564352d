/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes of communicators that were freed.
 *
 * Others may still read a lane when its owner frees the communicator, so it stays until each member
 * has said that it is done with it: in the lane itself, by one bit for each member. A member that
 * has closed its device, or has died, need not. A lane without users is freed when communicators
 * are made or freed.
 *
 * The executor calls these functions; none waits.
 */
#ifndef ACCL_LANE_LEAVE_H
#define ACCL_LANE_LEAVE_H

#include "accl/transport/shm/lane.h"

/* As of struct transport. */
void acclib_lane_leave(accl_device *device, struct communicator *comm);

/* Frees the lanes that have no users any more. */
void acclib_lanes_reclaim(accl_device *device);

/* Forgets all, when the device is closed; lanes are left for those that still read. */
void acclib_lanes_forget(accl_device *device);

#endif
