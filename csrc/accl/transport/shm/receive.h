/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving from a rank with which memory is shared. Messages of one sender are taken from its ring
 * in order; what belongs to another communicator, or has another tag than the awaited one, is set
 * aside as an unexpected message (its rx buffers stay taken). A message of the awaited communicator
 * is never overtaken by a later one.
 */
#ifndef ACCL_SHM_RECEIVE_H
#define ACCL_SHM_RECEIVE_H

#include "accl/transport/transport.h"

/* As of struct transport. */
uint32_t acclib_shm_receive(accl_device *device, struct communicator *comm, uint32_t from,
                            const struct wanted *message);
void acclib_shm_progress(accl_device *device);
void acclib_shm_reset(accl_device *device);
void acclib_shm_visit(accl_device *device, pending_visit visit, void *argument);

#endif
