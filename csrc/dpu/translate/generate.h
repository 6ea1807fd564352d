/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: a program, as it is planned, in C. */
#ifndef OFFCHIP_DPU_GENERATE_H
#define OFFCHIP_DPU_GENERATE_H

#include "plan.h"

#include <stdbool.h>
#include <stdio.h>

/* True if instructions of this kind are computed by dpu_alu(). */
bool dpu_is_alu(const struct dpu_operation *op);

/*
 * The blocks, made of the macros of generated_code.h or lanes_code.h. Sets *USED and *WRITTEN to
 * the registers of the DPU that occur and that are written, a bit each. To be freed; NULL if out of
 * memory.
 */
char *dpu_generate_blocks(const struct dpu_plan *plan, uint32_t switches, uint32_t *used,
                          uint32_t *written);

/* Writes all that a compiler needs to make a module (runner.h). With LANES: for so many DPUs. */
void dpu_generate(FILE *out, const struct dpu_plan *plan, uint32_t switches, uint32_t wram_size,
                  uint32_t lanes);

#endif
