/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration calls: ACCL_CONFIG. */
#ifndef ACCL_CONFIGURE_H
#define ACCL_CONFIGURE_H

#include "accl/base/device.h"

/* Segments are shorter, in bytes. */
#define SEGMENT_END 8388544
#define DEFAULT_TIMEOUT_MS 1000000

/* Executes CALL; error bits. Does not wait. */
uint32_t acclib_configure(accl_device *device, const struct accl_call *call);

#endif
