/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: copying, filling and comparing memory. */
#include <string.h>

#include "word_bytes.h"

#define COPY_WORD(n) ((word_t *)(void *)to)[n] = ((const word_t *)(const void *)from)[n]

/*
 * Upwards, and each word is written before the next one is read: of areas that overlap, what lies
 * between the two starts repeats. The vendor's memcpy() does so too, and decompressors rely on it;
 * hence no `restrict` below.
 */
static inline __attribute__((always_inline)) void copy_up(uint8_t *to, const uint8_t *from,
                                                          size_t size)
{
    uint8_t *end = to + size;

    if (size >= 8 && (((uintptr_t)to ^ (uintptr_t)from) & 3) == 0) {
        uint8_t *words;

        while (((uintptr_t)to & 3) != 0)
            *to++ = *from++;
        words = to + ((size_t)(end - to) & ~(size_t)15);
        while (to != words) {
            COPY_WORD(0);
            COPY_WORD(1);
            COPY_WORD(2);
            COPY_WORD(3);
            from += 16;
            to += 16;
        }
        words = to + ((size_t)(end - to) & ~(size_t)3);
        while (to != words) {
            *(word_t *)(void *)to = *(const word_t *)(const void *)from;
            from += 4;
            to += 4;
        }
    }
    while (to != end)
        *to++ = *from++;
}

NO_IDIOMS void *memcpy(void *destination, const void *source, size_t size)
{
    copy_up(destination, source, size);
    return destination;
}

NO_IDIOMS void *memmove(void *destination, const void *source, size_t size)
{
    uint8_t *to = destination, *start = to;
    const uint8_t *from = source;

    if ((uintptr_t)to - (uintptr_t)from >= size) {
        copy_up(to, from, size);
        return destination;
    }
    to += size;
    from += size;
    if (size >= 8 && (((uintptr_t)to ^ (uintptr_t)from) & 3) == 0) {
        uint8_t *words;

        while (((uintptr_t)to & 3) != 0)
            *--to = *--from;
        words = to - ((size_t)(to - start) & ~(size_t)3);
        while (to != words) {
            to -= 4;
            from -= 4;
            *(word_t *)(void *)to = *(const word_t *)(const void *)from;
        }
    }
    while (to != start)
        *--to = *--from;
    return destination;
}

NO_IDIOMS void *memset(void *area, int value, size_t size)
{
    uint8_t *to = area, *end = to + size;

    if (size >= 8) {
        uint32_t word = (uint8_t)value;
        uint8_t *words;

        word |= word << 8;
        word |= word << 16;
        while (((uintptr_t)to & 3) != 0)
            *to++ = (uint8_t)value;
        words = to + ((size_t)(end - to) & ~(size_t)15);
        while (to != words) {
            ((word_t *)(void *)to)[0] = word;
            ((word_t *)(void *)to)[1] = word;
            ((word_t *)(void *)to)[2] = word;
            ((word_t *)(void *)to)[3] = word;
            to += 16;
        }
        words = to + ((size_t)(end - to) & ~(size_t)3);
        while (to != words) {
            *(word_t *)(void *)to = word;
            to += 4;
        }
    }
    while (to != end)
        *to++ = (uint8_t)value;
    return area;
}

NO_IDIOMS int memcmp(const void *area1, const void *area2, size_t size)
{
    const uint8_t *a = area1, *b = area2;

    if ((((uintptr_t)a | (uintptr_t)b) & 3) == 0) {
        while (size >= 4 && *(const word_t *)(const void *)a == *(const word_t *)(const void *)b) {
            a += 4;
            b += 4;
            size -= 4;
        }
    }
    for (; size != 0; size--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

void *memchr(const void *area, int character, size_t size)
{
    const uint8_t *at = area;

    for (; size != 0; size--, at++)
        if (*at == (uint8_t)character)
            return (void *)(uintptr_t)at;
    return NULL;
}
