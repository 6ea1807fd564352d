/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling.h: how long tasklets spend in a section of the program. */
#ifndef DPU_RUNTIME_PROFILING_H
#define DPU_RUNTIME_PROFILING_H

#include <attributes.h>
#include <perfcounter.h>
#include <profiling_internals.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROFILING_INIT(_name) dpu_profiling_t __used __section(".data.__sys_profiling") _name

/* Fault 6 if this tasklet is in the section already. */
void profiling_start(dpu_profiling_t *context);
/* Fault 7 if it is not in it. */
void profiling_stop(dpu_profiling_t *context);

#ifdef __cplusplus
}
#endif

#endif
