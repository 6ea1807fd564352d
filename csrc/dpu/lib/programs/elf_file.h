/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.h: what is behind a dpu_elf_file_t, for the files that read and write such files. */
#ifndef OFFCHIP_DPU_LIB_ELF_FILE_H
#define OFFCHIP_DPU_LIB_ELF_FILE_H

#include "dpu_elf.h"
#include "formats/dpu_elf.h"

#include <stdint.h>

struct dpulib_elf_file {
    struct dpu_elf elf; /* of image */
    uint8_t *image;     /* freed with the file */
};

#endif
