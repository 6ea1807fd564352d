/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives whose contributions fit into a post: no rank waits for the readers of its own. */
#ifndef ACCL_COLLECTIVE_SMALL_H
#define ACCL_COLLECTIVE_SMALL_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* By operation; collective_direct.h makes those that have none here, whatever their size. */
struct small;
extern uint32_t (*const acclib_small_collectives[OPERATION_KINDS])(const struct small *);

/* Executes call NUMBER, of which a rank posts POSTED elements. Error bits; may wait. */
uint32_t acclib_collective_small(accl_device *device, const struct operation *op, uint64_t number,
                                 uint64_t posted);

#endif
