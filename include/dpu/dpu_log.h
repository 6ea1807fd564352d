/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_log.h: what a DPU program printed. */
#ifndef DPU_LOG_H
#define DPU_LOG_H

#include <stdio.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the log of a DPU, without the line with its id that dpu_log_read() writes before it. */
dpu_error_t dpulog_read_for_dpu(struct dpu_t *dpu, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
