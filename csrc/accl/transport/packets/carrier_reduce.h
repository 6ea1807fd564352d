/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions that MPI makes itself, if struct accl_mpi asks for it: those of communicator 0, on
 * a communicator of MPI that nothing else uses. The functions are as of struct transport.
 *
 * A collective of MPI cannot be taken back. So MPI gets a copy of the operands, and memory of the
 * engine for the result: a call that ends too early leaves them behind, and what its caller does
 * with its buffers reaches no other rank.
 */
#ifndef ACCL_PACKETS_CARRIER_REDUCE_H
#define ACCL_PACKETS_CARRIER_REDUCE_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

bool acclib_carrier_reduces(const accl_device *device, const struct operation *op);
uint32_t acclib_carrier_reduce(accl_device *device, const struct operation *op);

#endif
