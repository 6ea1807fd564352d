/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void acclib_text_add(struct text_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool room = out->length < out->space;
    int n = vsnprintf(room ? out->text + out->length : NULL, room ? out->space - out->length : 0,
                      format, args);
    va_end(args);
    if (n > 0)
        out->length += (size_t)n;
}
