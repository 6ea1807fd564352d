/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over lanes. A member publishes what it contributes under the call's number; the
 * others look for it there. Little data is in the post itself; for more, see collective_direct.h.
 */
#ifndef ACCL_SHM_COLLECTIVE_H
#define ACCL_SHM_COLLECTIVE_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* As of struct transport. */
bool acclib_shm_makes(uint32_t operation);
bool acclib_shm_takes_arrays(const accl_device *device, const struct operation *op);
uint32_t acclib_shm_collective(accl_device *device, const struct operation *op, uint64_t number);
void acclib_shm_give_up(accl_device *device, struct communicator *comm);

#endif
