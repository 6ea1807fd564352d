/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/core/text.h"

#include <stdarg.h>
#include <stdio.h>

struct dpulib_text dpulib_text_new(char *buffer, size_t size)
{
    if (size != 0)
        *buffer = 0;
    return (struct dpulib_text){buffer, size};
}

void dpulib_text_add(struct dpulib_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (length <= 0 || text->left == 0)
        return;

    size_t step = (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += step;
    text->left -= step;
}

void dpulib_text_add_bits(struct dpulib_text *text, uint32_t bits)
{
    const char *separator = "";
    for (uint32_t first = 0; first < 32; first++) {
        if ((bits >> first & 1) == 0)
            continue;
        uint32_t last = first;
        while (last < 31 && (bits >> (last + 1) & 1) != 0)
            last++;
        dpulib_text_add(text, "%s%u", separator, first);
        if (last != first)
            dpulib_text_add(text, "%s%u", last == first + 1 ? ", " : "-", last);
        separator = ", ";
        first = last;
    }
}
