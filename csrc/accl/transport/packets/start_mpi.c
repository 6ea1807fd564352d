/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions accl_mpi_*(): the engine carries its packets itself. */
#include <string.h>

#include "accl/transport/packets/carrier.h"

/* The part that every caller has. */
#define MPI_SMALLEST (offsetof(struct accl_mpi, any_thread) + sizeof(uint32_t))

static int check(accl_device *device)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (device->packets == NULL)
        return acclib_fail(ACCL_NOT_READY, "all ranks share memory: nothing goes through MPI");

    return ACCL_OK;
}

ACCL_EXPORT int accl_mpi_start(accl_device *device, const struct accl_mpi *mpi)
{
    if (mpi == NULL)
        return acclib_is_null("accl_mpi_start", "mpi");
    if (mpi->size < MPI_SMALLEST)
        return acclib_fail(ACCL_INVALID, "struct accl_mpi has %u bytes, not %zu", mpi->size,
                           sizeof *mpi);
    if (mpi->library == NULL)
        return acclib_is_null("accl_mpi_start", "mpi->library");

    /* Callers of earlier headers have no reductions, and perhaps what is not set in their place. */
    struct accl_mpi setup = {.size = sizeof setup};
    memcpy(&setup, mpi, mpi->size < sizeof setup ? mpi->size : sizeof setup);
    if (mpi->size < sizeof setup)
        setup.reductions = 0;

    int status = check(device);
    return status == ACCL_OK ? acclib_carrier_start(device, &setup) : status;
}

ACCL_EXPORT int accl_mpi_stop(accl_device *device, int64_t timeout_ns)
{
    int status = check(device);
    return status == ACCL_OK ? acclib_carrier_stop(device, timeout_ns) : status;
}
