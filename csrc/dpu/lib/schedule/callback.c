/* SPDX-License-Identifier: BSD-3-Clause */
/* callback.c: functions of the user's as jobs. */
#include "dpu/lib/core/core.h"

DPU_EXPORT dpu_error_t dpu_callback(struct dpu_set_t dpu_set,
                                    dpu_error_t (*callback)(struct dpu_set_t, uint32_t, void *),
                                    void *args, dpu_callback_flags_t flags)
{
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;
    if (callback == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "there is no function to call");
    unsigned options = (unsigned)flags;
    bool async = (options & DPU_CALLBACK_ASYNC) != 0;
    bool blocking = (options & DPU_CALLBACK_NONBLOCKING) == 0;
    if (!async && !blocking)
        return dpulib_fail(DPU_ERR_NONBLOCKING_SYNC_CALLBACK,
                           "DPU_CALLBACK_NONBLOCKING needs DPU_CALLBACK_ASYNC");
    struct dpulib_work work = {
        .kind = DPULIB_JOB_CALLBACK,
        .parallel = (options & DPU_CALLBACK_PARALLEL) != 0,
    };
    struct dpulib_operation *operation = dpulib_operation_new(dpu_set, &work);
    if (operation == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "there is no memory for a job");
    operation->callback = (struct dpulib_callback){
        .function = callback,
        .argument = args,
        .set = dpu_set,
        .blocking = blocking,
        .single = (options & DPU_CALLBACK_SINGLE_CALL) != 0,
    };
    operation->async = async;
    if (operation->callback.single && operation->count > 1)
        operation->style = DPULIB_GATHER;
    else if (!async && operation->count == 1)
        operation->style = DPULIB_CALLER;
    else
        operation->style = DPULIB_CALL;
    return dpulib_operation_run(operation);
}
