/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/carrier_state.h"
#include "accl/transport/packets/handover.h"

void acclib_carrier_failed(accl_device *device, struct carrier *c, uint32_t rank, int error)
{
    char text[128];
    acclib_mpi_describe(&c->mpi, error, text, sizeof text);
    if (rank == NO_RANK)
        c->broken = true;

    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && (rank == NO_RANK || rank == i))
            acclib_packets_lost(device, i, text);
}
