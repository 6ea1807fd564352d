/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
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

/*
 * Reads each page once. A masked load of AVX-512 of which no lane is wanted, as compilers take one
 * from their constants, has no fault: while its page is missing, it takes a hundred times as long.
 */
__attribute__((no_sanitize("address"))) static void touch_pages(const struct host_object *object,
                                                                const void *data, size_t size)
{
    const ElfW(Ehdr) *header = data;
    struct link_map *map;
    if (dlinfo(object->handle, RTLD_DI_LINKMAP, &map) != 0 || size < sizeof *header ||
        header->e_phoff > size || (size - header->e_phoff) / sizeof(ElfW(Phdr)) < header->e_phnum)
        return;

    const ElfW(Phdr) *segments =
        (const ElfW(Phdr) *)(const void *)((const char *)data + header->e_phoff);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < header->e_phnum; i++) {
        const volatile char *start = (const char *)map->l_addr + segments[i].p_vaddr;
        bool is_read = segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_R) != 0;
        for (size_t at = 0; is_read && at < segments[i].p_memsz; at += page)
            (void)start[at];
    }
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
    if (object->symbol != NULL) {
        touch_pages(object, data, size);
        return true;
    }

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
