/* SPDX-License-Identifier: BSD-3-Clause */
#include "module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static bool write_all(int file, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }

    return true;
}

/*
 * A file that has no name and cannot be changed any more: what is loaded is what was checked. It
 * stays open, because the loader takes two files of one path for the same.
 */
static int make_file(const void *data, size_t size)
{
    int file = memfd_create("dpu-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    if (write_all(file, data, size) && fcntl(file, F_ADD_SEALS, SEALS) == 0)
        return file;
    close(file);
    return -1;
}

bool dpu_module_load(struct dpu_loaded *loaded, const void *data, size_t size)
{
    *loaded = (struct dpu_loaded){.file = make_file(data, size), .size = size};
    if (loaded->file < 0)
        return false;

    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", loaded->file);
    loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct dpu_module *module =
        loaded->handle != NULL ? dlsym(loaded->handle, "dpu_module") : NULL;
    if (module != NULL && module->size == sizeof *module) {
        loaded->module = module;
        return true;
    }

    dpu_module_unload(loaded);
    return false;
}

void dpu_module_unload(struct dpu_loaded *loaded)
{
    if (loaded->handle != NULL)
        dlclose(loaded->handle);
    if (loaded->file >= 0)
        close(loaded->file);
    *loaded = (struct dpu_loaded){.file = -1};
}
