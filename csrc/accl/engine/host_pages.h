/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives and messages that copy between the host's pages of buffers and the device's.
 *
 * Where the transport permits it, the host's pages are the operands, and the device's get a copy of
 * what was read or written while that is in the caches. Else all is copied before and after.
 */
#ifndef ACCL_HOST_PAGES_H
#define ACCL_HOST_PAGES_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* Makes the call of OP, whose operands have so many bytes, by RUN. */
typedef uint32_t run_operands(accl_device *device, struct operation *op, uint64_t source_bytes,
                              uint64_t result_bytes);
uint32_t acclib_host_pages_run(accl_device *device, struct operation *op, uint64_t source_bytes,
                               uint64_t result_bytes, run_operands *run);

#endif
