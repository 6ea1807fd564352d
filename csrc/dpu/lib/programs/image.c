/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/programs/image.h"

#include "dpu/lib/core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dpu_error_t dpulib_cannot_read(const char *path, int error)
{
    if (path == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "no program is named: its path is NULL");

    char folder[PATH_MAX];
    if (*path == '/' || getcwd(folder, sizeof folder) == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "the program %s cannot be read: %s (errno %d)", path,
                           strerror(error), error);
    return dpulib_fail(DPU_ERR_SYSTEM,
                       "the program %s cannot be read in the folder %s: %s (errno %d)", path,
                       folder, strerror(error), error);
}

dpu_error_t dpulib_read_file(const char *path, uint8_t **image, size_t *size)
{
    *image = NULL;
    *size = 0;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dpulib_cannot_read(path, errno);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return dpulib_fail(DPU_ERR_SYSTEM, "the program %s is not a regular file", path);
    }

    size_t room = (size_t)info.st_size;
    uint8_t *data = malloc(room + 1);
    ssize_t got = data != NULL ? 1 : -1;
    while (got > 0 && *size < room) {
        got = read(fd, data + *size, room - *size);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *size += (size_t)got;
    }

    int error = errno;
    close(fd);
    if (got < 0) {
        free(data);
        return dpulib_cannot_read(path, error);
    }

    *image = data;
    return DPU_OK;
}

dpu_error_t dpulib_elf_fail(enum dpu_elf_status status, const char *path)
{
    dpu_error_t error = DPU_ERR_ELF_INVALID_FILE;
    switch (dpu_elf_status_class(status)) {
    case DPU_ELF_CLASS_OK: return DPU_OK;
    case DPU_ELF_CLASS_SYSTEM: error = DPU_ERR_SYSTEM; break;
    case DPU_ELF_CLASS_NO_SECTION: error = DPU_ERR_ELF_NO_SUCH_SECTION; break;
    case DPU_ELF_CLASS_INVALID_FILE: break;
    }

    return dpulib_fail(error, "%s: %s", path != NULL ? path : "the program",
                       dpu_elf_status_text(status));
}
