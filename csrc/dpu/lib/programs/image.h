/* SPDX-License-Identifier: BSD-3-Clause */
/* image.h: the bytes of a program file, and what is said of those that are no program. */
#ifndef OFFCHIP_DPU_LIB_IMAGE_H
#define OFFCHIP_DPU_LIB_IMAGE_H

#include "dpu_error.h"
#include "formats/dpu_elf.h"

#include <stddef.h>
#include <stdint.h>

/* A copy of a file, to be freed by free(). DPU_ERR_SYSTEM, and *image is NULL, if it cannot be
 * read. */
dpu_error_t dpulib_read_file(const char *path, uint8_t **image, size_t *size);
/* The error for a file that cannot be read, whose errno is ERROR; PATH may be NULL. */
dpu_error_t dpulib_cannot_read(const char *path, int error);
/* The error, with a text, for what dpu_elf_open_image() says of a file; PATH may be NULL. */
dpu_error_t dpulib_elf_fail(enum dpu_elf_status status, const char *path);

#endif
