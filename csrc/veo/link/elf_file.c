/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/elf_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool velink_fail(struct velink_error *error, const char *format, ...)
{
    if (error->text[0] != '\0')
        return false;

    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool velink_slice(struct velink_bytes image, uint64_t offset, uint64_t size,
                  struct velink_bytes *part)
{
    *part = (struct velink_bytes){image.data, 0};
    if (offset > image.size || size > image.size - offset)
        return false;

    *part = (struct velink_bytes){image.data + offset, (size_t)size};
    return true;
}

bool velink_is_ve(const uint8_t *image, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return false;

    memcpy(&header, image, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == VELINK_MACHINE;
}

/* Copies COUNT headers of SIZE bytes, EACH bytes apart. NULL with the reason. */
static void *read_table(struct velink_bytes image, uint64_t offset, uint64_t count, size_t each,
                        size_t size, struct velink_error *error)
{
    struct velink_bytes part;
    if (each < size || count > image.size || !velink_slice(image, offset, count * each, &part)) {
        velink_fail(error, "its headers are beyond the end of the file");
        return NULL;
    }

    uint8_t *table = calloc(count + 1, size);
    if (table == NULL)
        velink_fail(error, "out of memory");
    for (size_t i = 0; table != NULL && i < count; i++)
        memcpy(table + i * size, part.data + i * each, size);
    return table;
}

static bool read_sections(struct velink_elf *elf, struct velink_error *error)
{
    const Elf64_Ehdr *eh = &elf->header;
    struct velink_bytes first;
    Elf64_Shdr head = {0};
    if (eh->e_shoff == 0)
        return true;

    /* A number that does not fit into the header is in the first section's. */
    uint64_t count = eh->e_shnum;
    if (velink_slice(elf->image, eh->e_shoff, sizeof head, &first))
        memcpy(&head, first.data, sizeof head);
    if (count == 0)
        count = head.sh_size;
    if (eh->e_shstrndx == SHN_XINDEX && head.sh_link < SHN_LORESERVE)
        elf->header.e_shstrndx = (uint16_t)head.sh_link;
    elf->sections =
        read_table(elf->image, eh->e_shoff, count, eh->e_shentsize, sizeof *elf->sections, error);
    elf->nsections = elf->sections != NULL ? (size_t)count : 0;
    return elf->sections != NULL;
}

bool velink_elf_open(struct velink_elf *elf, struct velink_bytes image, struct velink_error *error)
{
    *elf = (struct velink_elf){.image = image};
    if (!velink_is_ve(image.data, image.size))
        return velink_fail(error, "it is no ELF file for the Vector Engine");

    memcpy(&elf->header, image.data, sizeof elf->header);
    bool read = read_sections(elf, error);
    if (read && elf->header.e_phnum != 0) {
        elf->segments = read_table(image, elf->header.e_phoff, elf->header.e_phnum,
                                   elf->header.e_phentsize, sizeof *elf->segments, error);
        elf->nsegments = elf->segments != NULL ? elf->header.e_phnum : 0;
        read = elf->segments != NULL;
    }

    if (!read)
        velink_elf_close(elf);
    return read;
}

void velink_elf_close(struct velink_elf *elf)
{
    free(elf->sections);
    free(elf->segments);
    *elf = (struct velink_elf){.image = {NULL, 0}};
}

struct velink_bytes velink_elf_content(const struct velink_elf *elf, size_t section)
{
    struct velink_bytes content = {elf->image.data, 0};
    if (section < elf->nsections && elf->sections[section].sh_type != SHT_NOBITS)
        velink_slice(elf->image, elf->sections[section].sh_offset, elf->sections[section].sh_size,
                     &content);
    return content;
}

const char *velink_string(struct velink_bytes table, uint64_t offset)
{
    if (offset >= table.size || memchr(table.data + offset, 0, table.size - (size_t)offset) == NULL)
        return "";
    return (const char *)table.data + offset;
}

const char *velink_elf_section_name(const struct velink_elf *elf, size_t section)
{
    return velink_string(velink_elf_content(elf, elf->header.e_shstrndx),
                         elf->sections[section].sh_name);
}

size_t velink_symbol_count(struct velink_bytes table)
{
    return table.size / sizeof(Elf64_Sym);
}

Elf64_Sym velink_symbol(struct velink_bytes table, size_t index)
{
    Elf64_Sym symbol = {0};
    if (index < velink_symbol_count(table))
        memcpy(&symbol, table.data + index * sizeof symbol, sizeof symbol);
    return symbol;
}

size_t velink_relocation_count(struct velink_bytes table)
{
    return table.size / sizeof(Elf64_Rela);
}

Elf64_Rela velink_relocation(struct velink_bytes table, size_t index)
{
    Elf64_Rela rela = {0};
    if (index < velink_relocation_count(table))
        memcpy(&rela, table.data + index * sizeof rela, sizeof rela);
    return rela;
}
