/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h: which line of a source an instruction is of, from the line table of a program:
 * .debug_line, versions 2 to 4 of DWARF. Any bytes may be given: what is damaged has no lines.
 */
#ifndef OFFCHIP_DPU_LINES_H
#define OFFCHIP_DPU_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dpu_line {
    const char *folder; /* NULL if the file's name is all that is known */
    const char *file;   /* both in the table */
    uint32_t line;
};

/*
 * Finds the line of the instruction at an address as it is in the file: 0x80000000 is the first
 * byte of IRAM. False, and *line empty, if the table does not have it. Only reads; takes time in
 * proportion to SIZE.
 */
bool dpu_lines_find(const uint8_t *table, size_t size, uint32_t address, struct dpu_line *line);

#endif
