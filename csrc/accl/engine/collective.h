/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives, whatever the transport. */
#ifndef ACCL_ENGINE_COLLECTIVE_H
#define ACCL_ENGINE_COLLECTIVE_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* Executes a collective on op->comm, as the executor; error bits. May wait. After a failure the
 * communicator is broken: its ranks are no longer in step. */
uint32_t acclib_collective_run(accl_device *device, const struct operation *op);

#endif
