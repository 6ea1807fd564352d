/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.h: what is behind a dpu_elf_file_t, for the files that read and write such files. */
#ifndef OFFCHIP_DPU_LIB_ELF_FILE_H
#define OFFCHIP_DPU_LIB_ELF_FILE_H

#include "dpu_elf.h"
#include "formats/dpu_elf.h"

#include <elf.h>

struct dpulib_elf_file {
    struct dpu_elf elf; /* of image */
    uint8_t *image;
    size_t size;
    Elf32_Ehdr header;
};

/* Section I; of type SHT_NULL if the file has it only in part. */
Elf32_Shdr dpulib_elf_section(const struct dpulib_elf_file *file, uint32_t i);
/* Its name, "" if it has none. */
char *dpulib_elf_section_name(const struct dpulib_elf_file *file, const Elf32_Shdr *section);
/* Its bytes, NULL if it has none in the file. */
const uint8_t *dpulib_elf_section_data(const struct dpulib_elf_file *file,
                                       const Elf32_Shdr *section);
/* Which memory an address is in, and where it counts from. */
uint32_t dpulib_elf_local_address(uint32_t address);

#endif
