/* SPDX-License-Identifier: BSD-3-Clause */
/* string_search.c: characters, strings and words in strings. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static char *mutable(const char *string)
{
    return (char *)(uintptr_t)string;
}

char *strchr(const char *string, int character)
{
    for (;; string++) {
        if (*string == (char)character)
            return mutable(string);
        if (*string == 0)
            return NULL;
    }
}

char *strrchr(const char *string, int character)
{
    const char *found = NULL;

    for (;; string++) {
        if (*string == (char)character)
            found = string;
        if (*string == 0)
            return mutable(found);
    }
}

static bool contains(const char *set, char character)
{
    for (; *set != 0; set++)
        if (*set == character)
            return true;
    return false;
}

size_t strspn(const char *string, const char *accept)
{
    size_t length = 0;

    while (string[length] != 0 && contains(accept, string[length]))
        length++;
    return length;
}

size_t strcspn(const char *string, const char *reject)
{
    size_t length = 0;

    while (string[length] != 0 && !contains(reject, string[length]))
        length++;
    return length;
}

char *strpbrk(const char *string, const char *accept)
{
    string += strcspn(string, accept);
    return *string == 0 ? NULL : mutable(string);
}

char *strstr(const char *haystack, const char *needle)
{
    size_t length = strlen(needle);

    for (;; haystack++) {
        if (strncmp(haystack, needle, length) == 0)
            return mutable(haystack);
        if (*haystack == 0)
            return NULL;
    }
}

char *strsep(char **restrict stringp, const char *restrict delim)
{
    char *word = *stringp, *end;

    if (word == NULL)
        return NULL;
    end = word + strcspn(word, delim);
    if (*end == 0) {
        *stringp = NULL;
    } else {
        *end = 0;
        *stringp = end + 1;
    }
    return word;
}

char *strtok_r(char *restrict string, const char *restrict delim, char **restrict saveptr)
{
    if (string == NULL)
        string = *saveptr;
    string += strspn(string, delim);
    *saveptr = string;
    if (*string == 0)
        return NULL;
    *saveptr += strcspn(string, delim);
    if (**saveptr != 0)
        *(*saveptr)++ = 0;
    return string;
}

char *strtok(char *restrict string, const char *restrict delim)
{
    static char *rest;

    return strtok_r(string, delim, &rest);
}
