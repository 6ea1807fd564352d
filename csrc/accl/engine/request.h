/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait for their turn, and the thread that executes them. */
#ifndef ACCL_REQUEST_H
#define ACCL_REQUEST_H

#include "accl/base/device.h"

/* The device is marked closed: waits until the call that runs has ended, and fails what is queued.
 */
void acclib_requests_stop(accl_device *device);

#endif
