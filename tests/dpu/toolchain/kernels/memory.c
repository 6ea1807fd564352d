/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the compiler may call for copies and clears of its own. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

/* The loops must not become calls of themselves. */
__attribute__((no_builtin)) void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    char *t = to;
    const char *f = from;
    for (size_t i = 0; i < size; i++)
        t[i] = f[i];
    return to;
}

__attribute__((no_builtin)) void *memset(void *to, int value, size_t size)
{
    char *t = to;
    for (size_t i = 0; i < size; i++)
        t[i] = (char)value;
    return to;
}
