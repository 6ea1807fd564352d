/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/wake.h"

#include "accl/transport/transport.h"
#include "common/futex.h"

void acclib_wake_ranks(accl_device *device, uint64_t wakes)
{
    if (!wakes)
        return;

    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        if (device->transports[i]->wake != NULL)
            device->transports[i]->wake(device, wakes);
}

void acclib_wake_flush(accl_device *device)
{
    uint64_t wakes = device->wakes;
    if (!wakes)
        return;

    device->wakes = 0;
    atomic_thread_fence(memory_order_seq_cst);
    acclib_wake_ranks(device, wakes);
}

void acclib_wake_self(accl_device *device)
{
    atomic_fetch_add(&device->header->doorbell, 1);
    if (atomic_load(&device->header->sleepers))
        futex_wake_all(&device->header->doorbell);
}
