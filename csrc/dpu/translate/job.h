/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h: translating one program, from its words to code in memory. Blocks for as long as it takes.
 */
#ifndef OFFCHIP_DPU_JOB_H
#define OFFCHIP_DPU_JOB_H

#include "hostcode/build.h"
#include "runner.h"

#include <stdbool.h>
#include <stdint.h>

/* The code of a program as the cache has it. False if it does not, or there is no compiler. */
bool dpu_job_find(const struct dpu_program *program, uint32_t lanes, struct dpu_loaded *loaded);
/*
 * Translates what of the program has run so far and what its record's code covers, or all that can
 * be reached (EVERYTHING); the cache gets it. False if it cannot be compiled.
 */
bool dpu_job_compile(struct dpu_program *program, bool everything, uint32_t lanes,
                     struct dpu_loaded *loaded, struct host_build_figures *figures);

#endif
