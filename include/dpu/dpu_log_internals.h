/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_log_internals.h: logs by way of a function of the caller's. */
#ifndef DPU_LOG_INTERNALS_H
#define DPU_LOG_INTERNALS_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPU_LOG_FORMAT_HEADER ("=== DPU#0x%x ===\n")

/* Called as printf() would be, any number of times; an error ends the reading. */
typedef dpu_error_t (*dpu_log_print_fct_t)(void *arg, const char *format, ...);

/* The log of a DPU, without the header. */
dpu_error_t dpulog_read_for_dpu_(struct dpu_t *dpu, dpu_log_print_fct_t print_fct, void *arg);
/* The text of log bytes that the caller has read. */
dpu_error_t dpulog_read_and_display_contents_of(void *input, size_t input_size,
                                                dpu_log_print_fct_t print_fct, void *print_fct_arg);
/* Prints to a FILE *. */
dpu_error_t dpulog_c_print_fct(void *arg, const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif
