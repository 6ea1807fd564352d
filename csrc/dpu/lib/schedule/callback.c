/* SPDX-License-Identifier: BSD-3-Clause */
/* callback.c: dpu_callback(), an operation that calls a function of the user's. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/schedule/submit.h"

DPU_EXPORT dpu_error_t dpu_callback(struct dpu_set_t dpu_set,
                                    dpu_error_t (*callback)(struct dpu_set_t, uint32_t, void *),
                                    void *args, dpu_callback_flags_t flags)
{
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;
    if (callback == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the callback must not be NULL");

    const unsigned options = (unsigned)flags;
    const bool async = (options & DPU_CALLBACK_ASYNC) != 0;
    const bool blocking = (options & DPU_CALLBACK_NONBLOCKING) == 0;
    if (!async && !blocking)
        return dpulib_fail(DPU_ERR_NONBLOCKING_SYNC_CALLBACK,
                           "DPU_CALLBACK_NONBLOCKING needs DPU_CALLBACK_ASYNC");

    const struct dpulib_spec spec = {
        .kind = DPULIB_JOB_CALLBACK,
        .callback =
            {
                .function = callback,
                .argument = args,
                .blocking = blocking,
                .single = (options & DPU_CALLBACK_SINGLE_CALL) != 0,
            },
        .parallel = (options & DPU_CALLBACK_PARALLEL) != 0,
    };
    return dpulib_submit(dpu_set, &spec, async);
}
