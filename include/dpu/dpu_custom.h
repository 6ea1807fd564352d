/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_custom.h: messages to what is behind a rank. */
#ifndef DPU_CUSTOM_H
#define DPU_CUSTOM_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_custom_command_t {
    DPU_COMMAND_DPU_SOFT_RESET,
    DPU_COMMAND_ALL_SOFT_RESET,
    DPU_COMMAND_DPU_PREEXECUTION,
    DPU_COMMAND_ALL_PREEXECUTION,
    DPU_COMMAND_DPU_POSTEXECUTION,
    DPU_COMMAND_ALL_POSTEXECUTION,
    DPU_COMMAND_CUSTOM_LABEL,
    DPU_COMMAND_POSTMORTEM,
    DPU_COMMAND_SYSTEM_REPORT,
    DPU_COMMAND_BINARY_PATH,
    DPU_COMMAND_EVENT_START,
    DPU_COMMAND_EVENT_END,
    DPU_COMMAND_SET_SLICE_INFO
} dpu_custom_command_t;

typedef void *dpu_custom_command_args_t;

/*
 * The two resets are dpu_reset_rank() and dpu_reset_dpu(). The others are for tools that watch a
 * rank, of which simulated ranks have none: they succeed and do nothing.
 */
dpu_error_t dpu_custom_for_rank(struct dpu_rank_t *rank, dpu_custom_command_t command,
                                dpu_custom_command_args_t args);
dpu_error_t dpu_custom_for_dpu(struct dpu_t *dpu, dpu_custom_command_t command,
                               dpu_custom_command_args_t args);

#ifdef __cplusplus
}
#endif

#endif
