/* SPDX-License-Identifier: BSD-3-Clause */
/* string_copy.c: length and copies of strings. */
#include <string.h>

#include "word_bytes.h"

NO_IDIOMS size_t strlen(const char *string)
{
    const char *at = string;

    while (*at != 0)
        at++;
    return (size_t)(at - string);
}

NO_IDIOMS size_t strnlen(const char *string, size_t max_len)
{
    size_t length = 0;

    while (length < max_len && string[length] != 0)
        length++;
    return length;
}

NO_IDIOMS char *stpcpy(char *restrict destination, const char *restrict source)
{
    while ((*destination = *source) != 0) {
        destination++;
        source++;
    }
    return destination;
}

char *strcpy(char *restrict destination, const char *restrict source)
{
    stpcpy(destination, source);
    return destination;
}

NO_IDIOMS char *stpncpy(char *restrict destination, const char *restrict source, size_t size)
{
    size_t length = strnlen(source, size);

    memcpy(destination, source, length);
    memset(destination + length, 0, size - length);
    return destination + length;
}

char *strncpy(char *restrict destination, const char *restrict source, size_t size)
{
    stpncpy(destination, source, size);
    return destination;
}

char *strcat(char *restrict destination, const char *restrict source)
{
    stpcpy(destination + strlen(destination), source);
    return destination;
}

char *strncat(char *restrict destination, const char *restrict source, size_t size)
{
    char *end = destination + strlen(destination);
    size_t length = strnlen(source, size);

    memcpy(end, source, length);
    end[length] = 0;
    return destination;
}

size_t strxfrm(char *restrict destination, const char *restrict source, size_t size)
{
    size_t length = strlen(source);

    /* As the order is that of the bytes, a string is its own transformation. */
    if (size != 0)
        strncpy(destination, source, size);
    return length;
}
