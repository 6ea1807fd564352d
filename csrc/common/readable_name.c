/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/readable_name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* abi::__cxa_demangle() of <cxxabi.h>. */
typedef char *demangle(const char *name, char *buffer, size_t *size, int *status);

static demangle *demangler;

static void find_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangler, &found, sizeof found);
}

void readable_name_add(struct text *text, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *readable = NULL;
    int status;
    /* It takes names of types without a prefix as well. */
    if (strncmp(name, "_Z", 2) == 0) {
        pthread_once(&once, find_demangler);
        if (demangler != NULL)
            readable = demangler(name, NULL, NULL, &status);
    }
    text_add(text, "%s", readable != NULL ? readable : name);
    free(readable);
}

/* How many characters of AT belong to one name; dots are parts of names, but not at their ends. */
static size_t length_of_name(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '$' ||
           (at[length] == '.' && length != 0 && isalnum((unsigned char)at[length + 1])))
        length++;
    return length;
}

void readable_names(char *text, size_t size)
{
    char *copy = strstr(text, "_Z") != NULL ? strdup(text) : NULL;
    char *buffer = copy != NULL ? malloc(size) : NULL;
    struct text out = text_new(buffer, buffer != NULL ? size : 0);
    for (char *at = copy; buffer != NULL && *at != '\0';) {
        size_t length = length_of_name(at);
        char after = at[length];
        at[length] = '\0';
        readable_name_add(&out, at);
        at[length] = after;
        at += length;
        if (*at != '\0')
            text_add(&out, "%c", *at++);
    }

    /* The text is whole all the time, for those who cannot wait for this. */
    if (buffer != NULL)
        memcpy(text, buffer, strlen(buffer) + 1);
    free(buffer);
    free(copy);
}
