/* SPDX-License-Identifier: BSD-3-Clause */
/* string_compare.c: which string comes first. */
#include <ctype.h>
#include <string.h>

int strcmp(const char *string1, const char *string2)
{
    while (*string1 != 0 && *string1 == *string2) {
        string1++;
        string2++;
    }
    return (unsigned char)*string1 - (unsigned char)*string2;
}

int strncmp(const char *string1, const char *string2, size_t size)
{
    for (; size != 0; size--, string1++, string2++) {
        if (*string1 != *string2)
            return (unsigned char)*string1 - (unsigned char)*string2;
        if (*string1 == 0)
            break;
    }
    return 0;
}

int strcoll(const char *string1, const char *string2)
{
    return strcmp(string1, string2);
}

int strncasecmp(const char *string1, const char *string2, size_t size)
{
    for (; size != 0; size--, string1++, string2++) {
        int a = tolower((unsigned char)*string1), b = tolower((unsigned char)*string2);

        if (a != b || a == 0)
            return a - b;
    }
    return 0;
}

int strcasecmp(const char *string1, const char *string2)
{
    return strncasecmp(string1, string2, (size_t)-1);
}
