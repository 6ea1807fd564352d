/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "veo/lib/export.h"
#include "veosoft.h"

static _Thread_local char last_error[2048];
static _Atomic int is_quiet;

void veolib_fail(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);

    if (!atomic_load(&is_quiet))
        fprintf(stderr, "[VH] [TID %ld] ERROR: %s\n", (long)syscall(SYS_gettid), last_error);
    errno = error;
}

static void print(const char *level, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "[VH] [TID %ld] %s: %s\n", (long)syscall(SYS_gettid), level, text);
}

void veolib_log(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print("INFO", format, args);
    va_end(args);
}

void veolib_log_debug(const char *format, ...)
{
    if (secure_getenv("VEO_LOG_DEBUG") == NULL)
        return;

    va_list args;
    va_start(args, format);
    print("DEBUG", format, args);
    va_end(args);
}

bool veolib_is_quiet(void)
{
    return atomic_load(&is_quiet) != 0;
}

VEO_EXPORT const char *veosoft_error(void)
{
    return last_error;
}

VEO_EXPORT int veosoft_set_quiet(int quiet)
{
    return atomic_exchange(&is_quiet, quiet != 0);
}
