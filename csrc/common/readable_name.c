/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/readable_name.h"

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
