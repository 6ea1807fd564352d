/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that is left for members that come later.
 *
 * A post may refer to the user's memory, which others read while the call lasts. A rank that needs
 * nothing from the others does not wait for them if the data would fit into rx buffers, as a send
 * does not: after a moment it moves the data to memory of its own, and the post refers to that
 * until it is used again.
 *
 * The executor calls these functions.
 */
#ifndef ACCL_LANE_KEEP_H
#define ACCL_LANE_KEEP_H

#include "accl/transport/shm/lane.h"

/* True if BYTES for one member are few enough to be left. */
static inline bool lane_may_keep(const accl_device *device, uint64_t bytes)
{
    return bytes <= device->rx_count * device->rx_bytes;
}

/* Memory for BYTES that call NUMBER leaves; NULL if out of memory. */
uint8_t *acclib_lane_keep(accl_device *device, const struct communicator *comm, uint64_t number,
                          uint64_t bytes);

/* True if all members are done with call NUMBER, or will be in a moment, which is longer with more
 * BYTES to be left. */
bool acclib_lane_soon_done(accl_device *device, const struct operation *op, uint64_t number,
                           uint64_t bytes);

/* True if member INDEX has posted call NUMBER. */
bool acclib_lane_has_posted(const struct communicator *comm, uint32_t index, uint64_t number);

/* The same, or it will have in a moment. */
bool acclib_lane_soon_posted(accl_device *device, const struct operation *op, uint32_t index,
                             uint64_t number, uint64_t bytes);

/* The source of the own post of call NUMBER was the user's memory, and is the copy at OFFSET from
 * here on: waits for those that still read the first. Error bits. */
uint32_t acclib_lane_move_source(accl_device *device, const struct operation *op, uint64_t number,
                                 uint64_t offset);

#endif
