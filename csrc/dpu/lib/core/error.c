/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/core/error.h"

#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpusoft.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_detail[2048];
static atomic_bool silent;

__attribute__((constructor)) static void set_up(void)
{
    atomic_store(&silent, dpulib_is_quiet());
}

__attribute__((format(printf, 1, 0))) static void keep(const char *format, va_list arguments)
{
    /* The arguments may have parts of the text that is there now. */
    char text[sizeof last_detail];
    vsnprintf(text, sizeof text, format, arguments);
    memcpy(last_detail, text, sizeof text);
}

dpu_error_t dpulib_fail_at(struct dpulib_told *told, dpu_error_t code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep(format, arguments);
    va_end(arguments);
    if (!atomic_load_explicit(&silent, memory_order_relaxed))
        dpulib_log_once(told, DPULIB_ERROR, "%s", last_detail);
    return code;
}

dpu_error_t dpulib_fail_again(dpu_error_t code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep(format, arguments);
    va_end(arguments);
    return code;
}

DPU_EXPORT void dpusoft_tell_reasons(bool tell_them)
{
    atomic_store(&silent, !tell_them);
}

dpu_error_t dpulib_count_failures(dpu_error_t error, uint32_t failures)
{
    if (error == DPU_OK || failures <= 1)
        return error;

    size_t length = strlen(last_detail);
    snprintf(last_detail + length, sizeof last_detail - length, "; %u more DPU%s failed as well",
             failures - 1, failures > 2 ? "s" : "");
    return error;
}

const char *dpulib_detail(void)
{
    return last_detail;
}

static const char *text_of_code(uint32_t code)
{
    switch (code) {
#define TEXT(name, value, text) \
    case value: return text;
        DPU_ERROR_CODES(TEXT)
#undef TEXT
    default: return "unknown error";
    }
}

static const char *text_of_job(uint32_t kind)
{
    switch (kind) {
#define TEXT(name, value, text) \
    case value: return text;
        DPULIB_JOBS(TEXT)
#undef TEXT
    default: return "unknown job type";
    }
}

DPU_EXPORT const char *dpu_error_to_string(dpu_error_t status)
{
    uint32_t value = (uint32_t)status;
    if ((value & DPU_ERR_ASYNC_JOBS) == 0)
        return strdup(text_of_code(value));

    value &= ~(uint32_t)DPU_ERR_ASYNC_JOBS;
    char text[256];
    snprintf(text, sizeof text, "asynchronous operation error (%s): %s (0x%x)",
             text_of_job(value >> DPU_ERROR_ASYNC_JOB_TYPE_SHIFT),
             text_of_code(value & ((1U << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT) - 1)), value);
    return strdup(text);
}

DPU_EXPORT uint32_t dpusoft_version(void)
{
    return DPUSOFT_VERSION;
}

DPU_EXPORT const char *dpusoft_last_error_detail(void)
{
    return last_detail;
}
