/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that answers other ranks on this host. */
#ifndef ACCL_PORTER_H
#define ACCL_PORTER_H

#include "accl/base/device.h"

/* Listens under this rank's name, and introduces this rank to the others. A status of accl.h. */
int acclib_porter_start(accl_device *device);

/* Ends that; may be called at any time after device->shm was made, and again. */
void acclib_porter_stop(accl_device *device);

#endif
