/* SPDX-License-Identifier: BSD-3-Clause */
/* string_duplicate.c: copies of strings on the heap. */
#include <alloc.h>
#include <string.h>

char *strndup(const char *string, size_t size)
{
    size_t length = strnlen(string, size);
    char *copy = mem_alloc(length + 1);

    memcpy(copy, string, length);
    copy[length] = 0;
    return copy;
}

char *strdup(const char *string)
{
    return strndup(string, (size_t)-1);
}
