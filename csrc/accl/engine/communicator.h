/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. The first one defines all ranks of the job. A communicator's key is made of the
 * global ranks in it and of how often this rank has made one of the same, so all members get the
 * same key without a word to each other. The executor calls these functions.
 */
#ifndef ACCL_ENGINE_COMMUNICATOR_H
#define ACCL_ENGINE_COMMUNICATOR_H

#include "accl/base/device.h"

/* Frees all, after the transports were closed. */
void acclib_communicators_free(accl_device *device);

/* ACCL_NOT_FOUND: there is no communicator ID, or it was freed. */
int acclib_communicator_missing(const accl_device *device, uint32_t id);

#endif
