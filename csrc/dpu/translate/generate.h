/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: from a plan to C. */
#ifndef OFFCHIP_DPU_GENERATE_H
#define OFFCHIP_DPU_GENERATE_H

#include "plan.h"

#include <stdio.h>

/*
 * Writes the C of a program, which has no needs but a compiler. It defines
 *
 *     const struct dpu_module dpu_module  (runner.h)
 */
void dpu_generate(FILE *out, const struct dpu_plan *plan, uint32_t switches, uint32_t wram_size);

#endif
