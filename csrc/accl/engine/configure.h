/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration calls: ACCL_CONFIG. */
#ifndef ACCL_CONFIGURE_H
#define ACCL_CONFIGURE_H

#include "accl/base/device.h"

/* Executes CALL; error bits. Does not wait. */
uint32_t acclib_configure(accl_device *device, const struct accl_call *call);

#endif
