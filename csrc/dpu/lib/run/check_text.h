/* SPDX-License-Identifier: BSD-3-Clause */
/* check_text.h: what is said of a finding: some lines. */
#ifndef OFFCHIP_DPU_LIB_CHECK_TEXT_H
#define OFFCHIP_DPU_LIB_CHECK_TEXT_H

#include "common/text.h"
#include "dpu/checks/checks.h"
#include "dpu/lib/ranks/rank.h"

/* For operations on the DPU, in a hook. */
void dpulib_add_finding(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                        const struct dpu_finding *finding);
/* A line for the place, and one for each call that led there. */
void dpulib_add_calls(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                      struct dpu_check_point point);

#endif
