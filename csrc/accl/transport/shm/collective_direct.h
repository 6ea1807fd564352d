/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives with much data: posts say where buffers are, and ranks read and write them in each
 * other's memory files, each byte once. A rank whose buffers others touch stays until all are done.
 * Reductions are shared out: every rank computes a part of the result, and writes it wherever it is
 * wanted.
 */
#ifndef ACCL_COLLECTIVE_DIRECT_H
#define ACCL_COLLECTIVE_DIRECT_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* By operation, for any count. The engine copies arrays for those without rounds. */
struct direct;
struct direct_collective {
    uint32_t (*run)(struct direct *);
    bool has_rounds;
};
extern const struct direct_collective acclib_direct_collectives[OPERATION_KINDS];

/* Executes call NUMBER. Error bits; may wait. */
uint32_t acclib_collective_direct(accl_device *device, const struct operation *op, uint64_t number);

#endif
