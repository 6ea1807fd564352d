/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling_internals.h: what the host reads of a profiled section. */
#ifndef DPU_RUNTIME_PROFILING_INTERNALS_H
#define DPU_RUNTIME_PROFILING_INTERNALS_H

#include <dpuconst.h>
#include <stdint.h>

#ifndef NR_THREADS
#define NR_THREADS DPU_NR_THREADS
#endif

typedef struct {
    uint32_t start[NR_THREADS]; /* of each tasklet, in units of 16; 0 outside of the section */
    uint32_t count[NR_THREADS]; /* the sum, in the same unit */
} dpu_profiling_t;

#endif
