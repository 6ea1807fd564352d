/* SPDX-License-Identifier: BSD-3-Clause */
/* merged.h: programs that were profiled, and what all DPUs together have executed of each. Whoever
 * calls this has the recorder's mutex. */
#ifndef OFFCHIP_DPU_LIB_MERGED_H
#define OFFCHIP_DPU_LIB_MERGED_H

#include "dpu/lib/observe/raw_file.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/rank.h"

struct dpulib_merged;

/* The entry of a program; a new one is written to FILE, with the DPU's timing. NULL if out of
 * memory. */
struct dpulib_merged *dpulib_merged_find(struct dpulib_raw_file *file,
                                         const struct dpulib_program *program,
                                         const struct dpu_t *dpu);
uint32_t dpulib_merged_number(const struct dpulib_merged *merged);
/* Adds what DPU number DPU has executed, and makes its profile forget it. */
void dpulib_merged_take(struct dpulib_merged *merged, struct dpu_profile *profile, uint32_t dpu);
/* Writes all sites, and forgets them. */
void dpulib_merged_write(struct dpulib_raw_file *file);
/* Forgets all programs. */
void dpulib_merged_reset(void);

#endif
