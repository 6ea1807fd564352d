/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts: of the last failure in a thread, of statuses and of error bits. */
#include <stdio.h>
#include <string.h>

#include "accl/engine/engine.h"

static _Thread_local char last_message[TEXT_BYTES];

int accl_fail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    return status;
}

int accl_is_null(const char *function, const char *what)
{
    return accl_fail(ACCL_INVALID, "%s: %s must not be NULL", function, what);
}

void accl_set_message(const char *text)
{
    snprintf(last_message, sizeof last_message, "%s", text);
}

uint32_t call_fail(accl_device *device, uint32_t bits, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(device->text, sizeof device->text, format, args);
    va_end(args);
    return bits;
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
