/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange memory: what the original keeps its configuration in, here a picture of the engine's
 * state that is refreshed when it is read. What exceeds its 8 KiB is placed above them.
 * The executor calls these functions.
 */
#ifndef ACCL_EXCHANGE_H
#define ACCL_EXCHANGE_H

#include "accl/base/device.h"

#define EXCHANGE_RECORD_WORDS 8   /* of an rx buffer */
#define EXCHANGE_REGISTERS 0x1FC0 /* from here to the end are registers */

/* After the rx buffers were set up; before the first communicator. */
void acclib_exchange_init(accl_device *device);

/* The address of COMM in exchange memory; UINT32_MAX if there is no place, which is harmless. */
uint32_t acclib_exchange_add_communicator(accl_device *device, const struct communicator *comm);

/* COMM, which is no longer in device->communicators, gives its place back. */
void acclib_exchange_remove_communicator(accl_device *device, const struct communicator *comm);

void acclib_exchange_refresh(accl_device *device);

#endif
