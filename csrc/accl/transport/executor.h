/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor: the one thread at a time that executes calls of a device. Only the executor touches
 * communicators, transports and configuration.
 *
 * A call that waits for another rank lets go of the executor (transport/wait.c), so that other
 * calls go on; which of them may is said by their tickets (ticket.h). Threads that want to become
 * the executor do so in the order in which they came.
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

/* True if threads wait to become the executor. */
static inline bool executor_is_wanted(const accl_device *device)
{
    return atomic_load_explicit(&device->interest, memory_order_relaxed) != 0;
}

/* Becomes the executor, waiting for it. ACCL_INTERRUPTED if the caller's check says so. */
int acclib_executor_enter(accl_device *device);

/* The same for a function of the API, whose DEVICE may be unusable. */
int acclib_device_enter(accl_device *device);

/* Without asking the check: always succeeds. */
void acclib_executor_enter_surely(accl_device *device);

/* Ends being the executor; a full fence. */
void acclib_executor_leave(accl_device *device);

/* State of a call that is saved while another one is executed. */
struct execution {
    const struct accl_call *call;
    struct ticket *ticket;
    bool checks;
    int64_t deadline;
    bool lingers;
};

/* The executed call lets others go on, and is the executor again afterwards. Between the two it
 * must touch nothing but what the call itself owns. */
void acclib_executor_let_go(accl_device *device, struct execution *saved);
void acclib_executor_take_back(accl_device *device, const struct execution *saved);

#endif
