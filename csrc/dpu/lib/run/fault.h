/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.h: sentences about how a launch ended. For operations on the DPU. */
#ifndef OFFCHIP_DPU_LIB_FAULT_H
#define OFFCHIP_DPU_LIB_FAULT_H

#include "dpu.h"

#include <stddef.h>

/* Room for what dpulib_explain() says. */
#define DPULIB_EXPLANATION_MAX 1800

/* How the launch of a DPU ended, if it ended badly: in a fault, early, or with tasklets that sleep;
 * "" if all is well. */
void dpulib_explain(const struct dpu_t *dpu, char *buffer, size_t size);
/* Describes what happened to a DPU, as dpusoft_describe_fault(). */
void dpulib_describe_fault(struct dpu_t *dpu, char *buffer, size_t size);

#endif
