/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor: the one thread that executes calls, in the order of submission. Only the executor
 * touches communicators, transports and configuration.
 */
#ifndef ACCL_EXECUTOR_H
#define ACCL_EXECUTOR_H

#include "accl/base/device.h"

/* Becomes the executor if there is none. */
static inline bool executor_try(accl_device *device)
{
    uint32_t free_now = 0;
    return atomic_compare_exchange_strong(&device->running, &free_now, 1);
}

/* Becomes the executor, after whatever is queued; waits for it. ACCL_INTERRUPTED if the caller's
 * check says so. */
int acclib_executor_enter(accl_device *device);

/* The same without asking the check: always succeeds. */
void acclib_executor_enter_surely(accl_device *device);

/* Ends being the executor; a full fence. */
void acclib_executor_leave(accl_device *device);

#endif
