/* SPDX-License-Identifier: BSD-3-Clause */
/* Which line of a source an instruction is of. */
#ifndef VEO_WORKER_DWARF_LINES_H
#define VEO_WORKER_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct veow_line {
    char file[64]; /* without folders; plain text */
    uint32_t line;
};

/*
 * Looks the instruction at VADDR (an address of the file, before relocation) up in the line tables,
 * DWARF 2-5, of the ELF file at IMAGE. False if they do not have it. Reads nothing outside IMAGE,
 * whatever it holds, and allocates nothing; takes time in proportion to SIZE.
 */
bool veow_dwarf_line(const uint8_t *image, size_t size, uint64_t vaddr, struct veow_line *out);

#endif
