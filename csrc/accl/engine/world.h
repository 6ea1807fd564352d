/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a device, and the transport that reaches each: the one place that knows all transports.
 */
#ifndef ACCL_WORLD_H
#define ACCL_WORLD_H

#include "accl/base/device.h"

/* Opens the transports that are needed for RANKS, of which this device is number ME. The executor.
 * A status of accl.h; after a failure it can be tried again. */
int acclib_world_open(accl_device *device, const struct accl_rank *ranks, uint32_t n, uint32_t me);

/* Closes them; after the executor has ended. */
void acclib_world_close(accl_device *device);

/* The transport for collectives among N global ranks, the same on all of them. */
const struct transport *acclib_world_transport(const accl_device *device, const uint32_t *world,
                                               uint32_t n);

#endif
