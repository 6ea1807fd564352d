/* SPDX-License-Identifier: BSD-3-Clause */
/* dwarf_lines.h: which line of a source an instruction is of, in files for the host and for the VE.
 */
#ifndef OFFCHIP_DWARF_LINES_H
#define OFFCHIP_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"

struct dwarf_line {
    char file[64]; /* without folders; plain text */
    uint32_t line;
};

/*
 * Looks the instruction at VADDR (an address of the file, before relocation) up in the line tables,
 * DWARF 2-5, of the ELF file at IMAGE. False if they do not have it. Reads nothing outside IMAGE,
 * whatever it holds, and allocates nothing; takes time in proportion to SIZE.
 */
bool dwarf_find_line(const uint8_t *image, size_t size, uint64_t vaddr, struct dwarf_line *out)
    OFFCHIP_SYMBOL(dwarf_find_line);

#endif
