/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts: of the last failure in a thread, of statuses and of error bits. */
#include "accl/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "accl.h"

static _Thread_local char last_message[TEXT_BYTES];

int acclib_fail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    return status;
}

int acclib_is_null(const char *function, const char *what)
{
    return acclib_fail(ACCL_INVALID, "%s: %s must not be NULL", function, what);
}

void acclib_set_message(const char *text)
{
    snprintf(last_message, sizeof last_message, "%s", text);
}

ACCL_EXPORT const char *accl_error_message(void)
{
    return last_message;
}

ACCL_EXPORT int accl_abi_version(void)
{
    return ACCL_ABI_VERSION;
}

ACCL_EXPORT const char *accl_version(void)
{
    return "offchip " OFFCHIP_VERSION;
}

ACCL_EXPORT const char *accl_status_text(int status)
{
    switch (status) {
#define STATUS_CASE(name, value, text) \
    case value: return text;
        ACCL_STATUS_LIST(STATUS_CASE)
    default: return "";
    }
}

ACCL_EXPORT const char *accl_error_name(unsigned bit)
{
    switch (bit) {
#define NAME_CASE(name, number, text) \
    case number: return #name;
        ACCL_ERROR_LIST(NAME_CASE)
    default: return "";
    }
}

ACCL_EXPORT const char *accl_error_text(unsigned bit)
{
    switch (bit) {
#define TEXT_CASE(name, number, text) \
    case number: return text;
        ACCL_ERROR_LIST(TEXT_CASE)
    default: return "";
    }
}
