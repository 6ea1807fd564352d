/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/dump/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/readable_name.h"
#include "veo/link/relocate.h"

/* --- labels --- */

static int by_place(const void *left, const void *right)
{
    const struct vedump_label *a = left;
    const struct vedump_label *b = right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->global != b->global)
        return a->global ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool take_labels(struct vedump_file *file)
{
    size_t count = velink_symbol_count(file->symbols);
    file->labels = calloc(count + 1, sizeof *file->labels);
    if (file->labels == NULL)
        return false;

    for (size_t i = 1; i < count; i++) {
        Elf64_Sym symbol = velink_symbol(file->symbols, i);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        const char *name = velink_string(file->strings, symbol.st_name);
        if (*name == '\0' || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_shndx >= file->elf.nsections || type == STT_SECTION || type == STT_FILE ||
            type == STT_TLS)
            continue;
        file->labels[file->nlabels++] =
            (struct vedump_label){.section = symbol.st_shndx,
                                  .value = symbol.st_value,
                                  .name = name,
                                  .global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL};
    }

    qsort(file->labels, file->nlabels, sizeof *file->labels, by_place);
    return true;
}

const struct vedump_label *vedump_label_at(const struct vedump_file *file, size_t section,
                                           uint64_t value)
{
    size_t low = 0;
    size_t high = file->nlabels;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vedump_label *label = &file->labels[middle];
        if (label->section < section || (label->section == section && label->value <= value))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || file->labels[low - 1].section != section)
        return NULL;

    /* The first of those at the same place is the one to show. */
    const struct vedump_label *found = &file->labels[low - 1];
    while (found > file->labels && found[-1].section == section && found[-1].value == found->value)
        found--;
    return found;
}

uint64_t vedump_address(const struct vedump_file *file, size_t section)
{
    return file->elf.sections[section].sh_addr;
}

/* --- relocations --- */

const char *vedump_shown(const struct vedump_file *file, const char *name,
                         struct vedump_name *buffer)
{
    struct text text = text_new(buffer->text, sizeof buffer->text);
    if (!file->readable)
        return name;
    readable_name_add(&text, name);
    return buffer->text;
}

static const char *name_in(const struct vedump_file *file, struct velink_bytes symbols,
                           struct velink_bytes strings, size_t index)
{
    if (index == 0 || index >= velink_symbol_count(symbols))
        return "";
    Elf64_Sym symbol = velink_symbol(symbols, index);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && symbol.st_shndx < file->elf.nsections)
        return velink_elf_section_name(&file->elf, symbol.st_shndx);
    return velink_string(strings, symbol.st_name);
}

const char *vedump_symbol_name(const struct vedump_file *file, size_t index)
{
    return name_in(file, file->symbols, file->strings, index);
}

/* A section of relocations names its symbols' table: libraries have another one for loaders. */
static const char *name_of_target(const struct vedump_file *file, size_t section, size_t index)
{
    const size_t count = file->elf.nsections;
    const uint32_t table = section < count ? file->elf.sections[section].sh_link : 0;
    const uint32_t strings = table < count ? file->elf.sections[table].sh_link : 0;
    if (table == 0 || table >= count || strings >= count)
        return "";
    return name_in(file, velink_elf_content(&file->elf, table),
                   velink_elf_content(&file->elf, strings), index);
}

void vedump_put_relocation(const struct vedump_file *file, size_t section,
                           const Elf64_Rela *relocation, char *text, size_t size)
{
    uint64_t number = ELF64_R_TYPE(relocation->r_info);
    const struct velink_relocation_type *type = velink_relocation_type(number);
    const char *name = name_of_target(file, section, ELF64_R_SYM(relocation->r_info));
    int64_t addend = relocation->r_addend;
    char kind[32];
    char distance[32] = "";
    snprintf(kind, sizeof kind, "type %" PRIu64, number);
    if (addend != 0 || *name == '\0')
        snprintf(distance, sizeof distance, "%s0x%" PRIx64,
                 addend < 0      ? "-"
                 : *name != '\0' ? "+"
                                 : "",
                 addend < 0 ? -(uint64_t)addend : (uint64_t)addend);
    struct vedump_name shown;
    snprintf(text, size, "%s %.1000s%s", type != NULL ? type->name : kind,
             vedump_shown(file, name, &shown), distance);
}

/* --- debug info --- */

static void relocate(struct vedump_file *file, struct velink_bytes content,
                     const Elf64_Rela *relocation)
{
    const struct velink_relocation_type *type =
        velink_relocation_type(ELF64_R_TYPE(relocation->r_info));
    size_t index = ELF64_R_SYM(relocation->r_info);
    if (type == NULL || type->value != VELINK_ADDRESS ||
        index >= velink_symbol_count(file->symbols))
        return;

    Elf64_Sym symbol = velink_symbol(file->symbols, index);
    unsigned bytes = velink_field_size(type->field);
    uint64_t base = symbol.st_shndx < file->elf.nsections ? file->bases[symbol.st_shndx] : 0;
    struct velink_bytes place;
    if (velink_slice(content, relocation->r_offset, bytes, &place))
        velink_write_field((uint8_t *)(uintptr_t)place.data, type->field,
                           base + symbol.st_value + (uint64_t)relocation->r_addend);
}

/* Gives the sections of an object addresses that differ, and its debug info those addresses. */
static void relocate_debug_info(struct vedump_file *file)
{
    uint64_t base = 0;
    for (size_t i = 1; i < file->elf.nsections; i++) {
        const Elf64_Shdr *sh = &file->elf.sections[i];
        if ((sh->sh_flags & SHF_ALLOC) == 0)
            continue;
        file->bases[i] = base;
        base += (sh->sh_size < UINT32_MAX ? sh->sh_size : 0) / 4096 * 4096 + 8192;
    }

    for (size_t i = 1; i < file->elf.nsections; i++) {
        const Elf64_Shdr *sh = &file->elf.sections[i];
        if (sh->sh_type != SHT_RELA || sh->sh_info >= file->elf.nsections ||
            strncmp(velink_elf_section_name(&file->elf, sh->sh_info), ".debug", 6) != 0)
            continue;
        struct velink_bytes table = velink_elf_content(&file->elf, i);
        for (size_t k = 0; k < velink_relocation_count(table); k++) {
            Elf64_Rela relocation = velink_relocation(table, k);
            relocate(file, velink_elf_content(&file->elf, sh->sh_info), &relocation);
        }
    }

    /* The reader of debug info takes linked files. */
    uint16_t type = ET_DYN;
    memcpy((uint8_t *)(uintptr_t)file->elf.image.data + offsetof(Elf64_Ehdr, e_type), &type,
           sizeof type);
}

/* --- the file --- */

/* Takes the symbol table of a type; false if there is none. */
static bool take_symbols(struct vedump_file *file, uint32_t type)
{
    for (size_t i = 1; i < file->elf.nsections; i++) {
        const Elf64_Shdr *sh = &file->elf.sections[i];
        if (sh->sh_type != type)
            continue;
        file->symbols = velink_elf_content(&file->elf, i);
        if (sh->sh_link < file->elf.nsections)
            file->strings = velink_elf_content(&file->elf, sh->sh_link);
        return true;
    }
    return false;
}

bool vedump_open(struct vedump_file *file, struct velink_bytes image, struct velink_error *error)
{
    *file = (struct vedump_file){.labels = NULL};
    if (!velink_elf_open(&file->elf, image, error))
        return false;

    if (!take_symbols(file, SHT_SYMTAB))
        take_symbols(file, SHT_DYNSYM);
    file->bases = calloc(file->elf.nsections + 1, sizeof *file->bases);
    if (file->bases == NULL || !take_labels(file)) {
        vedump_close(file);
        return velink_fail(error, "out of memory");
    }

    if (file->elf.header.e_type == ET_REL)
        relocate_debug_info(file);
    else
        for (size_t i = 0; i < file->elf.nsections; i++)
            file->bases[i] = file->elf.sections[i].sh_addr;
    return true;
}

void vedump_close(struct vedump_file *file)
{
    velink_elf_close(&file->elf);
    free(file->labels);
    free(file->bases);
}
