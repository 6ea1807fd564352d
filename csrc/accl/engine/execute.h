/* SPDX-License-Identifier: BSD-3-Clause */
/* From a call's description to its execution. */
#ifndef ACCL_EXECUTE_H
#define ACCL_EXECUTE_H

#include "accl/base/device.h"

/* ACCL_OK if CALL can be executed or queued. Any thread. */
int acclib_call_check(accl_device *device, const struct accl_call *call);

/* Executes CALL as the executor; error bits, with a text in device->text. With CHECKS the
 * caller's interrupt check is called: its own thread executes the call. */
uint32_t acclib_call_execute(accl_device *device, const struct accl_call *call, bool checks);

#endif
