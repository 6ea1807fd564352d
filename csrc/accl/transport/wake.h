/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking ranks that sleep. A rank that writes a word marks those that wait for it; the full fence
 * that checking for sleepers needs is paid when the writer itself waits, or ends its call.
 */
#ifndef ACCL_WAKE_H
#define ACCL_WAKE_H

#include "accl/base/device.h"

/* Marks global rank RANK, which may sleep for what was just written. */
static inline void wake_later(accl_device *device, uint32_t rank)
{
    device->wakes |= UINT64_C(1) << rank % 64;
}

/* Wakes all that are marked. */
void acclib_wake_flush(accl_device *device);

/* Wakes the ranks in WAKES, after a full fence of the caller. Any thread. */
void acclib_wake_ranks(accl_device *device, uint64_t wakes);

/* Wakes this rank's own waits. Any thread. */
void acclib_wake_self(accl_device *device);

#endif
