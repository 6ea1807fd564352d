/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between hosts, from those that move elements of one type.
 *
 * Sums of integers are added within hosts, then between them. The order of other sums matters: it
 * is the original's, so the operands themselves are exchanged, and added where the result is
 * needed.
 */
#ifndef ACCL_HOSTS_COLLECTIVE_H
#define ACCL_HOSTS_COLLECTIVE_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* As of struct transport. */
bool acclib_hosts_makes(uint32_t operation);
uint32_t acclib_hosts_collective(accl_device *device, const struct operation *op, uint64_t number);

#endif
