/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's streams as a call's operand. */
#ifndef ACCL_ENGINE_STREAM_H
#define ACCL_ENGINE_STREAM_H

#include "accl/base/device.h"

/* Waits for BYTES of the stream's input. The executor calls it; error bits. */
uint32_t acclib_stream_read(accl_device *device, uint8_t *data, uint64_t bytes);

#endif
