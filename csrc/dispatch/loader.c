/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a shared library and fills a table with the addresses of its functions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Function pointers are stored as the object pointers that dlsym() gives, as POSIX promises. */
_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "a slot holds either kind of pointer");

static void store(void *slots, size_t i, void *address)
{
    memcpy((char *)slots + i * sizeof address, &address, sizeof address);
}

static void clear(void *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        store(slots, i, NULL);
}

/* The real name of the file in which ADDRESS lies; NULL if that cannot be told. */
static char *origin(void *address)
{
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    char *path = realpath(info.dli_fname, NULL);
    return path != NULL ? path : strdup(info.dli_fname);
}

static int fail(struct offchip_library *lib, const char *text)
{
    offchip_library_close(lib);
    snprintf(lib->error, sizeof lib->error, "%s", text);
    return -1;
}

int offchip_library_open(const char *path, const char *const *names, size_t n, void *slots,
                         const char *const *optional_names, size_t n_optional, void *optional_slots,
                         struct offchip_library *lib)
{
    size_t text_size = 1;

    memset(lib, 0, sizeof *lib);
    clear(slots, n);
    clear(optional_slots, n_optional);
    if (path == NULL || strchr(path, '/') == NULL)
        return fail(lib, "a path with a slash is needed, not a name to be searched for");
    if (n > INT_MAX)
        return fail(lib, "too many functions");

    dlerror();
    lib->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib->handle == NULL) {
        const char *text = dlerror();
        return fail(lib, text != NULL ? text : "unknown error of the dynamic loader");
    }

    for (size_t i = 0; i < n; i++)
        text_size += strlen(names[i]) + 1;
    lib->missing = calloc(text_size, 1);
    if (lib->missing == NULL) {
        clear(slots, n);
        return fail(lib, strerror(ENOMEM));
    }

    char *end = lib->missing;
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(lib->handle, names[i]);
        store(slots, i, address);
        if (address == NULL) {
            size_t size = strlen(names[i]) + 1;
            memcpy(end, names[i], size);
            end += size;
            lib->missing_count++;
        } else if (lib->path == NULL) {
            lib->path = origin(address);
        }
    }

    for (size_t i = 0; i < n_optional; i++) {
        void *address = dlsym(lib->handle, optional_names[i]);
        store(optional_slots, i, address);
        if (address != NULL)
            lib->optional_count++;
    }

    if (lib->path == NULL)
        lib->path = strdup("");
    if (lib->path == NULL) {
        clear(slots, n);
        clear(optional_slots, n_optional);
        return fail(lib, strerror(ENOMEM));
    }

    return (int)lib->missing_count;
}

const char *offchip_library_missing(const struct offchip_library *lib, size_t i)
{
    const char *name = lib->missing;

    if (i >= lib->missing_count)
        return NULL;
    while (i-- > 0)
        name += strlen(name) + 1;
    return name;
}

void offchip_library_close(struct offchip_library *lib)
{
    if (lib->handle != NULL)
        dlclose(lib->handle);
    lib->handle = NULL;
    free(lib->path);
    lib->path = NULL;
    free(lib->missing);
    lib->missing = NULL;
    lib->missing_count = 0;
    lib->optional_count = 0;
}
