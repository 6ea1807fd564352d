/* SPDX-License-Identifier: BSD-3-Clause */
/* warnings.c: what a launch that did not fail has to say: to stderr, or to the caller. */
#include "dpu/lib/run/warnings.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpusoft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dpulib_keeps_warnings(const struct dpu_rank_t *rank)
{
    dpulib_lock();
    bool keeps = rank->keeps_warnings;
    dpulib_unlock();
    return keeps;
}

void dpulib_warn(struct dpu_rank_t *rank, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    dpulib_lock();
    bool keeps = rank->keeps_warnings;
    if (keeps && rank->warning == NULL)
        rank->warning = strdup(text);
    rank->warnings += keeps;
    dpulib_unlock();

    if (!keeps)
        dpulib_log(DPULIB_WARNING, "%s", text);
}

DPU_EXPORT dpu_error_t dpusoft_keep_warnings(struct dpu_set_t set, bool keep)
{
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (uint32_t i = 0; status == DPU_OK && i < dpulib_set_ranks(&set); i++)
        dpulib_set_rank(&set, i)->keeps_warnings = keep;
    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpusoft_take_warning(struct dpu_set_t set, char *text, size_t size,
                                            uint32_t *count)
{
    if (text == NULL || size == 0 || count == NULL)
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE, "text and count must not be NULL");

    *text = 0;
    *count = 0;

    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (uint32_t i = 0; status == DPU_OK && i < dpulib_set_ranks(&set); i++) {
        struct dpu_rank_t *rank = dpulib_set_rank(&set, i);
        if (*text == 0 && rank->warning != NULL)
            snprintf(text, size, "%s", rank->warning);
        *count += rank->warnings;
        free(rank->warning);
        rank->warning = NULL;
        rank->warnings = 0;
    }

    dpulib_unlock();
    return status;
}
