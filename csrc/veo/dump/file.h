/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h: an ELF file of VE code that is listed. One thread.
 */
#ifndef VEDUMP_FILE_H
#define VEDUMP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/link/elf_file.h"

/* A symbol with a name and an address, for labels. */
struct vedump_label {
    size_t section;
    uint64_t value;
    const char *name;
    bool global;
};

struct vedump_file {
    struct velink_elf elf;
    struct velink_bytes symbols; /* .symtab, or else .dynsym */
    struct velink_bytes strings;
    struct vedump_label *labels; /* by section and value; of two, the global one is first */
    size_t nlabels;
    uint64_t *bases; /* of sections in the debug info: those of an object all begin at 0 */
    bool readable;   /* names of C++ are shown as sources have them */
};

/* A name as it is shown. */
struct vedump_name {
    char text[1000];
};

/* Options of the listing. */
struct vedump_what {
    bool sections, symbols, relocations, code, lines, source, readable;
};

/*
 * Opens a file; IMAGE, which may be written, gets an object's debug info relocated. False with the
 * reason.
 */
bool vedump_open(struct vedump_file *file, struct velink_bytes image, struct velink_error *error);
void vedump_close(struct vedump_file *file);

/* The address of the first byte of a section, as listings have it. */
uint64_t vedump_address(const struct vedump_file *file, size_t section);

/* The last label at or before VALUE in the section, or NULL. */
const struct vedump_label *vedump_label_at(const struct vedump_file *file, size_t section,
                                           uint64_t value);

/* The name of a symbol; that of its section if it has none. */
const char *vedump_symbol_name(const struct vedump_file *file, size_t index);

/* NAME as it is shown, in BUFFER. */
const char *vedump_shown(const struct vedump_file *file, const char *name,
                         struct vedump_name *buffer);

/* Writes the type and the value of a relocation of SECTION, such as "R_VE_LO32 f+0x8". */
void vedump_put_relocation(const struct vedump_file *file, size_t section,
                           const Elf64_Rela *relocation, char *text, size_t size);

/* Print the listing to standard output. */
void vedump_sections(const struct vedump_file *file);
void vedump_symbols(const struct vedump_file *file);
void vedump_relocations(const struct vedump_file *file);
void vedump_code(const struct vedump_file *file, const struct vedump_what *what);

#endif
