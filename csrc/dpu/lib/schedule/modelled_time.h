/* SPDX-License-Identifier: BSD-3-Clause */
/* modelled_time.h: what operations would take on hardware; see modelled_time.c. */
#ifndef OFFCHIP_DPU_LIB_MODELLED_TIME_H
#define OFFCHIP_DPU_LIB_MODELLED_TIME_H

#include "dpu/lib/schedule/operation.h"

/* With the lock: notes an operation that is over, and writes a line if DPU_SOFT_REPORT asks for it.
 * Blocks for as long as the line takes to be written. */
void dpulib_time_note(const struct dpulib_operation *operation);

#endif
