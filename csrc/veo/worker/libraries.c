/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/libraries.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/host_machine.h"
#include "veo/run/libraries.h"
#include "veo/worker/classes.h"
#include "veo/worker/context.h"
#include "veo/worker/static_symbols.h"

/* Handles are counted here, because dlclose() trusts whatever it is given. */
struct loaded {
    void *handle;              /* of dlopen(), or the same as ve */
    struct velink_library *ve; /* VE code */
    unsigned count;
    struct loaded *next;
};

static struct loaded *libraries;
/* Held while a handle is used, so that it is not closed meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct loaded *find(uint64_t handle)
{
    struct loaded *library = libraries;
    while (library != NULL && (uint64_t)(uintptr_t)library->handle != handle)
        library = library->next;
    return library;
}

/* The loader's message, or a plainer one where the file is for another machine. */
static void explain(const char *path, const char *message, char *error)
{
    Elf64_Ehdr header;
    const char *what = NULL;
    int fd = strchr(path, '/') != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, &header, sizeof header);
    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
        if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != HOST_MACHINE)
            what = "it is for another machine; the soft libveo runs code for " HOST_MACHINE_NAME
                   " and for the Vector Engine";
        else if (header.e_type != ET_DYN)
            what = "it is no shared library; link it with -shared -fPIC";
    } else if (n > 0) {
        what = "it is no ELF file";
    }

    if (what != NULL)
        snprintf(error, WIRE_ERROR_SIZE, "%s (%.300s)", what, message);
    else
        snprintf(error, WIRE_ERROR_SIZE, "%.1000s", message);
}

/* Loads VE code. NULL with the reason. */
static struct velink_library *load_code(const char *path, char *error)
{
    struct velink_error why = {""};
    struct velink_library *code = verun_load(path, &why);
    if (code == NULL)
        snprintf(error, WIRE_ERROR_SIZE, "cannot load the Vector Engine code: %.950s", why.text);
    return code;
}

/* Opens a file by what it holds. NULL with the reason; *VE is set for VE code. */
static void *open_library(const char *path, struct velink_library **ve, char *error)
{
    char file[4096];
    *ve = NULL;
    if (verun_find_code(path, file, sizeof file))
        return *ve = load_code(file, error);
    if (strchr(path, '/') != NULL && verun_recognises(path))
        return *ve = load_code(path, error);

    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const char *message = handle == NULL ? dlerror() : NULL;
    if (handle == NULL)
        explain(path, message != NULL ? message : "unknown reason", error);
    return handle;
}

static int close_library(const struct loaded *library)
{
    if (library->ve == NULL)
        return dlclose(library->handle);
    verun_unload(library->ve);
    return 0;
}

uint64_t veow_load(struct wire_text *text)
{
    struct loaded *library;
    struct velink_library *ve;
    text->error[0] = 0;
    void *handle = open_library(text->text, &ve, text->error);
    if (handle == NULL)
        return 0;

    pthread_mutex_lock(&lock);
    library = find((uint64_t)(uintptr_t)handle);
    if (library == NULL && (library = calloc(1, sizeof *library)) != NULL) {
        *library = (struct loaded){.handle = handle, .ve = ve, .next = libraries};
        libraries = library;
    }

    if (library != NULL)
        library->count++;
    pthread_mutex_unlock(&lock);
    if (library == NULL) {
        close_library(&(struct loaded){.handle = handle, .ve = ve});
        snprintf(text->error, sizeof text->error, "out of memory in the VE process");
        return 0;
    }

    return (uint64_t)(uintptr_t)handle;
}

static bool lies_in(uint64_t address, const void *map)
{
    Dl_info info;
    void *there = NULL;
    return dladdr1((const void *)(uintptr_t)address, &info, &there, RTLD_DL_LINKMAP) &&
           there == map;
}

static bool lies_in_ve(uint64_t address, const void *library)
{
    return velink_contains(library, address);
}

/* By another context: this one is here. */
static bool is_being_executed(const struct loaded *library)
{
    if (library->ve != NULL)
        return veow_is_executing(lies_in_ve, library->ve);
    struct link_map *map;
    return dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && veow_is_executing(lies_in, map);
}

uint64_t veow_unload(uint64_t handle)
{
    int rc = WIRE_UNLOAD_UNKNOWN;
    pthread_mutex_lock(&lock);
    struct loaded *library = find(handle);
    if (library != NULL && library->count == 1 && is_being_executed(library))
        rc = WIRE_UNLOAD_BUSY;
    else if (library != NULL)
        rc = close_library(library) == 0 ? 0 : WIRE_UNLOAD_UNKNOWN;
    if (library != NULL && rc == 0 && --library->count == 0) {
        struct loaded **at = &libraries;
        while (*at != library)
            at = &(*at)->next;
        *at = library->next;
        free(library);
    }

    pthread_mutex_unlock(&lock);
    veow_classes_forget();
    return (uint64_t)(int64_t)rc;
}

/* The program of VE code that VEORUN_BIN names, or NULL. */
static const struct velink_library *program;

bool veow_load_code(const char *path, char *error)
{
    program = load_code(path, error);
    return program != NULL;
}

static const void *find_static(const char *name)
{
    const struct velink_named *named = program != NULL ? velink_export(program, name) : NULL;
    if (named != NULL && !named->thread_local_one)
        return (const void *)(uintptr_t)named->address;
    if (veorun_static_symbols == NULL)
        return NULL;
    for (const struct veorun_symbol *s = veorun_static_symbols; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s->address;
    return NULL;
}

uint64_t veow_symbol(uint64_t handle, struct wire_text *text)
{
    text->error[0] = 0;
    const void *address = find_static(text->text);
    if (address != NULL) {
        veow_classes_signature((uint64_t)(uintptr_t)address, text->signature);
        return (uint64_t)(uintptr_t)address;
    }

    if (!handle) {
        snprintf(text->error, sizeof text->error,
                 veorun_static_symbols != NULL || program != NULL
                     ? "it is not among the symbols linked into this worker"
                     : "nothing is linked into this worker statically (python -m "
                       "veo.static_worker makes one)");
        return 0;
    }

    pthread_mutex_lock(&lock);
    const struct loaded *library = find(handle);
    if (library != NULL && library->ve != NULL) {
        const struct velink_named *named = velink_export(library->ve, text->text);
        if (named == NULL || named->thread_local_one)
            snprintf(text->error, sizeof text->error,
                     named == NULL ? "the VE code does not define it, or hides it"
                                   : "it is a thread-local variable, which has no one address");
        else
            address = (const void *)(uintptr_t)named->address;
        if (address != NULL)
            veow_classes_signature(named->address, text->signature);
    } else if (library != NULL) {
        address = dlsym(library->handle, text->text);
        const char *message = address != NULL ? NULL : dlerror();
        if (address == NULL)
            snprintf(text->error, sizeof text->error, "%.1000s",
                     message != NULL ? message : "its address is 0");
        else
            veow_classes_signature((uint64_t)(uintptr_t)address, text->signature);
    } else {
        snprintf(text->error, sizeof text->error, "0x%llx is no handle of a loaded library",
                 (unsigned long long)handle);
    }

    pthread_mutex_unlock(&lock);
    return (uint64_t)(uintptr_t)address;
}
