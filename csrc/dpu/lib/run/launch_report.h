/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_report.h: filling struct dpusoft_report of dpusoft.h. For operations on the DPU. */
#ifndef OFFCHIP_DPU_LIB_LAUNCH_REPORT_H
#define OFFCHIP_DPU_LIB_LAUNCH_REPORT_H

#include "dpu.h"
#include "dpusoft.h"

/* The run time of the program of a DPU: enum dpusoft_runtime. Without the lock. */
uint32_t dpulib_runtime_of(const struct dpu_t *dpu);
/* report->size is set, and checked. */
void dpulib_fill_launch_report(struct dpu_t *dpu, uint32_t status, struct dpusoft_report *report);
dpu_error_t dpulib_check_launch_report(const struct dpusoft_report *report);

#endif
