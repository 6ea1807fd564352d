/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling.c: sections that are profiled. */
#include <dpu_instructions.h>
#include <dpufault.h>
#include <profiling.h>

/* A start is never 0, which says that the tasklet is outside. */
void profiling_start(dpu_profiling_t *context)
{
    uint32_t *start = &context->start[__dpu_me()];

    if (*start != 0) {
        __dpu_fault(__FAULT_ALREADY_PROFILING__);
    }
    *start = __dpu_time() + 1;
}

void profiling_stop(dpu_profiling_t *context)
{
    uint32_t now = __dpu_time() + 1, id = __dpu_me();

    if (context->start[id] == 0) {
        __dpu_fault(__FAULT_NOT_PROFILING__);
    }
    context->count[id] += now - context->start[id];
    context->start[id] = 0;
}
