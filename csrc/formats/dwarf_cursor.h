/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_cursor.h: reads numbers from a debug section.
 *
 * A cursor does not leave its section: after a read beyond the end it is bad, and all further reads
 * give 0. Nothing blocks or allocates.
 */
#ifndef OFFCHIP_DWARF_CURSOR_H
#define OFFCHIP_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "formats/dwarf_elf.h"

/* Reads little-endian data in [at, end) of BASE. */
struct dwarf_cursor {
    const uint8_t *base;
    size_t at, end;
    bool bad;
};

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned bytes) OFFCHIP_SYMBOL(dwarf_fixed);
uint64_t dwarf_long_uleb(struct dwarf_cursor *c) OFFCHIP_SYMBOL(dwarf_long_uleb);
int64_t dwarf_sleb(struct dwarf_cursor *c) OFFCHIP_SYMBOL(dwarf_sleb);
const uint8_t *dwarf_skip(struct dwarf_cursor *c, uint64_t bytes) OFFCHIP_SYMBOL(dwarf_skip);

/* Nearly all numbers are of one byte, and a search reads millions. */
static inline uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
    if (!c->bad && c->at < c->end && c->base[c->at] < 0x80)
        return c->base[c->at++];
    return dwarf_long_uleb(c);
}

/* A cursor at offset AT of a section; it is bad if the section ends before. */
struct dwarf_cursor dwarf_cursor(const struct dwarf *d, enum dwarf_section section, uint64_t at)
    OFFCHIP_SYMBOL(dwarf_cursor);

#endif
