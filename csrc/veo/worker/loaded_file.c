/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/loaded_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct link_map *veow_file_of(uint64_t address, Dl_info *info)
{
    struct link_map *map = NULL;
    bool found =
        dladdr1((const void *)(uintptr_t)address, info, (void **)&map, RTLD_DL_LINKMAP) != 0;
    return found ? map : NULL;
}

bool veow_file_map(const struct link_map *map, struct veow_file *file)
{
    const char *path = map->l_name != NULL && *map->l_name != '\0' ? map->l_name : "/proc/self/exe";
    struct stat status;
    *file = (struct veow_file){NULL, 0};

    /* Not to be held up by what somebody has put in the file's place. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (image != MAP_FAILED)
            *file = (struct veow_file){image, size};
    }
    close(fd);
    return file->image != NULL;
}

void veow_file_unmap(const struct veow_file *file)
{
    munmap((void *)(uintptr_t)file->image, file->size);
}
