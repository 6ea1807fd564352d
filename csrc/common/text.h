/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h: a text that is put together piece by piece in a buffer of a fixed size.
 *
 * Characters beyond the buffer are cut off, and counted. Nothing allocates or fails.
 */
#ifndef OFFCHIP_TEXT_H
#define OFFCHIP_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* AT may be NULL if SIZE is 0. LENGTH is that of all that was added. */
struct text {
    char *at;
    size_t size, length;
};

/* A text in SIZE bytes at BUFFER, empty at first. */
static inline struct text text_new(char *buffer, size_t size)
{
    if (size != 0)
        *buffer = 0;
    return (struct text){buffer, size, 0};
}

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text,
                                                                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t used = text->length < text->size ? text->length : text->size;
    int length =
        vsnprintf(used < text->size ? text->at + used : NULL, text->size - used, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length;
}

/* The numbers of the bits that are set: "0-3, 7". */
static inline void text_add_bits(struct text *text, uint64_t bits)
{
    const char *separator = "";
    for (uint32_t first = 0; first < 64; first++) {
        if ((bits >> first & 1) == 0)
            continue;
        uint32_t last = first;
        while (last < 63 && (bits >> (last + 1) & 1) != 0)
            last++;
        text_add(text, "%s%u", separator, first);
        if (last != first)
            text_add(text, "%s%u", last == first + 1 ? ", " : "-", last);
        separator = ", ";
        first = last;
    }
}

#endif
