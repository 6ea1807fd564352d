/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dpu_elf_sections.h"

#include <string.h>

bool dpu_elf_slice(struct dpu_elf_bytes from, uint64_t offset, uint64_t size,
                   struct dpu_elf_bytes *to)
{
    if (offset > from.size || size > from.size - offset)
        return false;
    *to = (struct dpu_elf_bytes){from.data + offset, (size_t)size};
    return true;
}

bool dpu_elf_is_string_table(struct dpu_elf_bytes table)
{
    return table.size > 0 && table.data[table.size - 1] == '\0';
}

enum dpu_elf_status dpu_elf_read_header(struct dpu_elf_bytes image, Elf32_Ehdr *eh)
{
    if (image.size < sizeof *eh || memcmp(image.data, ELFMAG, SELFMAG) != 0)
        return DPU_ELF_NOT_ELF;

    memcpy(eh, image.data, sizeof *eh);
    if (eh->e_ident[EI_CLASS] != ELFCLASS32)
        return DPU_ELF_NOT_32_BIT;
    if (eh->e_ident[EI_DATA] != ELFDATA2LSB)
        return DPU_ELF_NOT_LITTLE_ENDIAN;
    if (eh->e_machine != DPU_ELF_MACHINE)
        return DPU_ELF_OTHER_MACHINE;
    return eh->e_type == ET_REL ? DPU_ELF_NOT_LINKED : DPU_ELF_OK;
}

enum dpu_elf_status dpu_elf_read_sections(struct dpu_elf_sections *sections,
                                          struct dpu_elf_bytes image, const Elf32_Ehdr *eh)
{
    *sections = (struct dpu_elf_sections){.image = image};
    if (eh->e_shnum == 0)
        return DPU_ELF_NO_SYMBOL_TABLE;
    if (eh->e_shentsize < sizeof(Elf32_Shdr) ||
        !dpu_elf_slice(image, eh->e_shoff, (uint64_t)eh->e_shnum * eh->e_shentsize,
                       &sections->table))
        return DPU_ELF_SECTIONS_OUTSIDE_FILE;

    sections->count = eh->e_shnum;
    sections->entry_size = eh->e_shentsize;

    if (eh->e_shstrndx >= sections->count)
        return DPU_ELF_NO_SECTION_NAMES;

    const Elf32_Shdr names = dpu_elf_section(sections, eh->e_shstrndx);
    if (names.sh_type != SHT_STRTAB ||
        !dpu_elf_slice(image, names.sh_offset, names.sh_size, &sections->names) ||
        !dpu_elf_is_string_table(sections->names))
        return DPU_ELF_NO_SECTION_NAMES;

    return DPU_ELF_OK;
}

Elf32_Shdr dpu_elf_section(const struct dpu_elf_sections *sections, uint32_t index)
{
    Elf32_Shdr sh = {.sh_type = SHT_NULL};
    if (index < sections->count)
        memcpy(&sh, sections->table.data + (size_t)index * sections->entry_size, sizeof sh);
    return sh;
}

const char *dpu_elf_section_name(const struct dpu_elf_sections *sections, const Elf32_Shdr *sh)
{
    return sh->sh_name < sections->names.size ? (const char *)sections->names.data + sh->sh_name
                                              : "";
}

bool dpu_elf_section_bytes(const struct dpu_elf_sections *sections, const Elf32_Shdr *sh,
                           struct dpu_elf_bytes *bytes)
{
    return sh->sh_type != SHT_NULL && sh->sh_type != SHT_NOBITS &&
           dpu_elf_slice(sections->image, sh->sh_offset, sh->sh_size, bytes);
}
