/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_elf_sections.h: the header and the sections of a DPU's ELF file, of which dpu_elf.h makes a
 * program.
 *
 * Any bytes may be given: each offset and size has 32 bits, is added in 64, and is checked before
 * it is used. Nothing here allocates; results point into the image, which must stay. All functions
 * may be called from any thread.
 */
#ifndef OFFCHIP_DPU_ELF_SECTIONS_H
#define OFFCHIP_DPU_ELF_SECTIONS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPU_ELF_MACHINE 245

/* The answers of the vendor's library that keep different failures apart. */
enum dpu_elf_class {
    DPU_ELF_CLASS_OK,
    DPU_ELF_CLASS_SYSTEM,       /* "system error" */
    DPU_ELF_CLASS_INVALID_FILE, /* "invalid ELF file" */
    DPU_ELF_CLASS_NO_SECTION,   /* "no such ELF section" */
};

/* X(name, class, text) */
#define DPU_ELF_STATUSES(X) \
    X(OK, OK, "the program can be loaded") \
    X(NO_MEMORY, SYSTEM, "out of memory (symbols of the program)") \
    X(NOT_ELF, INVALID_FILE, "this is not an ELF file") \
    X(NOT_32_BIT, INVALID_FILE, "this is not a 32-bit ELF file, and so not a DPU program") \
    X(NOT_LITTLE_ENDIAN, INVALID_FILE, "this is a big-endian ELF file, and so not a DPU program") \
    X(OTHER_MACHINE, INVALID_FILE, "this ELF file is for another machine than the DPU") \
    X(NOT_LINKED, INVALID_FILE, "this is an object file, which has to be linked first") \
    X(NO_SEGMENTS, INVALID_FILE, "the file has nothing to load") \
    X(HEADERS_OUTSIDE_FILE, INVALID_FILE, "the program headers are beyond the end of the file") \
    X(SEGMENT_OUTSIDE_FILE, INVALID_FILE, "a segment ends beyond the end of the file") \
    X(SEGMENT_TOO_LONG, INVALID_FILE, "a segment has more bytes in the file than in memory") \
    X(SEGMENT_OUTSIDE_MEMORY, INVALID_FILE, "a segment is outside the memories of a DPU") \
    X(SEGMENT_MISALIGNED, INVALID_FILE, "a segment does not consist of whole instructions") \
    X(SECTIONS_OUTSIDE_FILE, NO_SECTION, "the sections are beyond the end of the file") \
    X(NO_SECTION_NAMES, NO_SECTION, "the file has no section names") \
    X(NO_SYMBOL_TABLE, NO_SECTION, "the file has no symbol table; it may have been stripped") \
    X(SYMBOLS_MALFORMED, INVALID_FILE, "the symbol table of the file is damaged")

enum dpu_elf_status {
#define X(name, class, text) DPU_ELF_##name,
    DPU_ELF_STATUSES(X)
#undef X
};

struct dpu_elf_bytes {
    const uint8_t *data;
    size_t size;
};

/* SIZE bytes at OFFSET of FROM. False if they are not all there. */
bool dpu_elf_slice(struct dpu_elf_bytes from, uint64_t offset, uint64_t size,
                   struct dpu_elf_bytes *to);
/* True if each offset in the table is the start of a string that ends in the table. */
bool dpu_elf_is_string_table(struct dpu_elf_bytes table);

struct dpu_elf_sections {
    struct dpu_elf_bytes image, table, names;
    uint32_t count, entry_size;
};

/* Reads the header of a linked file for DPUs. */
enum dpu_elf_status dpu_elf_read_header(struct dpu_elf_bytes image, Elf32_Ehdr *eh);
/* Finds the sections of a file with that header. */
enum dpu_elf_status dpu_elf_read_sections(struct dpu_elf_sections *sections,
                                          struct dpu_elf_bytes image, const Elf32_Ehdr *eh);
/* The header of a section; of type SHT_NULL if there is no such section. */
Elf32_Shdr dpu_elf_section(const struct dpu_elf_sections *sections, uint32_t index);
/* Its name, "" if it has none. */
const char *dpu_elf_section_name(const struct dpu_elf_sections *sections, const Elf32_Shdr *sh);
/* Its bytes. False if it has none in the file, or not all. */
bool dpu_elf_section_bytes(const struct dpu_elf_sections *sections, const Elf32_Shdr *sh,
                           struct dpu_elf_bytes *bytes);

#endif
