/* SPDX-License-Identifier: BSD-3-Clause */
/* custom.c: the functions of dpu_custom.h. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu_config.h"
#include "dpu_custom.h"
#include "dpu_runner.h"

static dpu_error_t check_command(dpu_custom_command_t command)
{
    if ((uint32_t)command > DPU_COMMAND_SET_SLICE_INFO)
        return dpulib_fail(DPU_ERR_INTERNAL, "%u is not a command", (unsigned)command);
    return DPU_OK;
}

static bool is_reset(dpu_custom_command_t command)
{
    return command == DPU_COMMAND_ALL_SOFT_RESET || command == DPU_COMMAND_DPU_SOFT_RESET;
}

DPU_EXPORT dpu_error_t dpu_custom_for_rank(struct dpu_rank_t *rank, dpu_custom_command_t command,
                                           dpu_custom_command_args_t args)
{
    (void)args;
    dpu_error_t status = dpulib_check_rank(rank);
    if (status == DPU_OK)
        status = check_command(command);
    return status == DPU_OK && is_reset(command) ? dpu_reset_rank(rank) : status;
}

DPU_EXPORT dpu_error_t dpu_custom_for_dpu(struct dpu_t *dpu, dpu_custom_command_t command,
                                          dpu_custom_command_args_t args)
{
    (void)args;
    dpu_error_t status = dpulib_check_dpu(dpu);
    if (status == DPU_OK)
        status = check_command(command);
    return status == DPU_OK && is_reset(command) ? dpu_reset_dpu(dpu) : status;
}
