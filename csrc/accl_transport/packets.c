/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets for other hosts: this engine reaches the ranks of its own host only, and says so. */
#include "accl/engine.h"

static int unsupported(void)
{
    return accl_fail(ACCL_UNSUPPORTED,
                     "this engine carries no packets: all ranks must be on one host");
}

ACCL_EXPORT int accl_packet_next(accl_device *device, struct accl_packet *packet)
{
    (void)device;
    (void)packet;
    return unsupported();
}

ACCL_EXPORT int accl_packet_done(accl_device *device, uint64_t id)
{
    (void)device;
    (void)id;
    return unsupported();
}

ACCL_EXPORT int accl_packet_space(accl_device *device, uint64_t bytes, struct accl_packet *packet)
{
    (void)device;
    (void)bytes;
    (void)packet;
    return unsupported();
}

ACCL_EXPORT int accl_packet_arrived(accl_device *device, uint32_t rank, uint64_t id)
{
    (void)device;
    (void)rank;
    (void)id;
    return unsupported();
}

ACCL_EXPORT int accl_packet_wait(accl_device *device, int64_t timeout_ns)
{
    (void)device;
    (void)timeout_ns;
    return unsupported();
}

ACCL_EXPORT int accl_packet_wake(accl_device *device)
{
    (void)device;
    return unsupported();
}

ACCL_EXPORT int accl_packet_outstanding(accl_device *device, uint64_t *n)
{
    (void)device;
    *n = 0;
    return unsupported();
}

ACCL_EXPORT int accl_packet_leave(accl_device *device)
{
    (void)device;
    return unsupported();
}

ACCL_EXPORT int accl_packet_lost(accl_device *device, uint32_t rank, const char *why)
{
    (void)device;
    (void)rank;
    (void)why;
    return unsupported();
}
