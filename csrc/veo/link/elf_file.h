/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf_file.h: the headers, sections and symbols of an ELF file for the Vector Engine.
 *
 * The file is not trusted: what these functions hand out lies within the image, whatever it holds.
 * A struct velink_elf is used by one thread, points into the image, which must stay, and owns
 * copies of the headers that velink_elf_close() frees. The image need not be aligned.
 */
#ifndef VELINK_ELF_FILE_H
#define VELINK_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/link/error.h"

#define VELINK_MACHINE 251 /* EM_VE */

struct velink_bytes {
    const uint8_t *data;
    size_t size;
};

struct velink_elf {
    struct velink_bytes image;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    size_t nsections;
    Elf64_Phdr *segments;
    size_t nsegments;
};

/* True if the file starts as an ELF file for the VE does. */
bool velink_is_ve(const uint8_t *image, size_t size);

/* Reads the headers. False with the reason; *ELF is then empty. */
bool velink_elf_open(struct velink_elf *elf, struct velink_bytes image, struct velink_error *error);
void velink_elf_close(struct velink_elf *elf);

/* The part of IMAGE at OFFSET; false if it is not all there. */
bool velink_slice(struct velink_bytes image, uint64_t offset, uint64_t size,
                  struct velink_bytes *part);

/* The content of a section: empty for one that has none, such as .bss, or that is not in the file.
 */
struct velink_bytes velink_elf_content(const struct velink_elf *elf, size_t section);

/* A string of a table, "" if it is not in there or has no end. */
const char *velink_string(struct velink_bytes table, uint64_t offset);

/* The name of a section, as of velink_string(). */
const char *velink_elf_section_name(const struct velink_elf *elf, size_t section);

/* The number of symbols in a symbol table, and one of them. */
size_t velink_symbol_count(struct velink_bytes table);
Elf64_Sym velink_symbol(struct velink_bytes table, size_t index);

/* The number of relocations in a table, and one of them. */
size_t velink_relocation_count(struct velink_bytes table);
Elf64_Rela velink_relocation(struct velink_bytes table, size_t index);

#endif
