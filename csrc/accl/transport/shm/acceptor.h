/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that answers other ranks on this host. */
#ifndef ACCL_ACCEPTOR_H
#define ACCL_ACCEPTOR_H

#include "accl/base/device.h"

/* Listens under this rank's name, and introduces this rank to the others. A status of accl.h. */
int acclib_acceptor_start(accl_device *device);

/* Asks another rank whether one that this rank waits for, and has not met, is gone. Any thread. */
void acclib_acceptor_ask(accl_device *device);

/* Ends that; may be called at any time after device->shm was made, and again. */
void acclib_acceptor_stop(accl_device *device);

#endif
