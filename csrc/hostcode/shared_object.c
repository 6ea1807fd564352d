/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/shared_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/write_all.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/*
 * A file that has no name and cannot be changed any more: what is loaded is what was checked. It
 * stays open, because the loader takes two files of one path for the same.
 */
static int make_file(const void *data, size_t size)
{
    int file = memfd_create("host-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    if (write_all(file, data, size) && fcntl(file, F_ADD_SEALS, SEALS) == 0)
        return file;
    close(file);
    return -1;
}

bool host_object_load(struct host_object *object, const void *data, size_t size, const char *symbol)
{
    *object = (struct host_object){.file = make_file(data, size), .size = size};
    if (object->file < 0)
        return false;

    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", object->file);
    object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    object->symbol = object->handle != NULL ? dlsym(object->handle, symbol) : NULL;
    if (object->symbol != NULL)
        return true;

    host_object_unload(object);
    return false;
}

void host_object_unload(struct host_object *object)
{
    if (object->handle != NULL)
        dlclose(object->handle);
    if (object->file >= 0)
        close(object->file);
    *object = (struct host_object){.file = -1};
}
