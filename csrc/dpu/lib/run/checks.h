/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks.h: checks of programs, if DPU_CHECK asks for them (common/check_options.h). Each DPU then
 * has its dpu_checks at its machine, and what they find is written once for all DPUs of the
 * process.
 */
#ifndef OFFCHIP_DPU_LIB_CHECKS_H
#define OFFCHIP_DPU_LIB_CHECKS_H

#include "dpu/lib/ranks/rank.h"
#include "dpu/machine/machine.h"

#include <stdbool.h>

/* For operations on the DPU, without the lock. They do nothing without DPU_CHECK. A launch is about
 * to begin, and is over; a program was loaded. */
void dpulib_checks_begin(struct dpu_t *dpu);
void dpulib_checks_end(struct dpu_t *dpu, enum dpu_run_status status);
void dpulib_checks_load(struct dpu_t *dpu);
/* True if a deadlock was found, so that the launch would not end. */
bool dpulib_checks_deadlock(const struct dpu_t *dpu);

#endif
