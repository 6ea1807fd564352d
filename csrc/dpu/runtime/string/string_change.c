/* SPDX-License-Identifier: BSD-3-Clause */
/* string_change.c: strings changed in place. */
#include <ctype.h>
#include <string.h>

char *strlwr(char *string)
{
    for (char *at = string; *at != 0; at++)
        *at = (char)tolower((unsigned char)*at);
    return string;
}

char *strupr(char *string)
{
    for (char *at = string; *at != 0; at++)
        *at = (char)toupper((unsigned char)*at);
    return string;
}

char *strrev(char *string)
{
    size_t length = strlen(string);

    for (size_t i = 0; i < length / 2; i++) {
        char swap = string[i];
        string[i] = string[length - 1 - i];
        string[length - 1 - i] = swap;
    }
    return string;
}

char *strnset(char *string, int character, size_t size)
{
    memset(string, character, strnlen(string, size));
    return string;
}

char *strset(char *string, int character)
{
    return strnset(string, character, (size_t)-1);
}
