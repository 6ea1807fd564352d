/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between ranks that have no memory in common: made of messages in a channel of their
 * own (pieces.h). Operands are added in the order of the original's ring, so the results are those
 * of ranks that share memory, bit by bit.
 */
#ifndef ACCL_PACKETS_COLLECTIVE_H
#define ACCL_PACKETS_COLLECTIVE_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* As of struct transport. */
bool acclib_packets_makes(uint32_t operation);
uint32_t acclib_packets_collective(accl_device *device, const struct operation *op,
                                   uint64_t number);

#endif
