/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_unit.h: reads units and their DIEs. Abbreviations, which say how a DIE is encoded, are
 * indexed in the struct dwarf for the table that was used last.
 */
#ifndef OFFCHIP_DWARF_UNIT_H
#define OFFCHIP_DWARF_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "formats/dwarf_die.h"

enum dwarf_read { DWARF_DIE, DWARF_NULL, DWARF_BROKEN };

/*
 * Reads the header of the unit at OFFSET: false at the end of the section, or where it is so
 * broken that the next cannot be found.
 */
bool dwarf_unit_at(struct dwarf *d, enum dwarf_section section, size_t offset,
                   struct dwarf_unit *unit) OFFCHIP_SYMBOL(dwarf_unit_at);
/* Reads the root DIE of a usable unit and takes over what the forms of the others need. */
bool dwarf_unit_root(struct dwarf *d, struct dwarf_unit *unit, struct dwarf_die *root)
    OFFCHIP_SYMBOL(dwarf_unit_root);
/* Reads the DIE at OFFSET. DWARF_BROKEN is noted as malformed only when the budget is spent. */
enum dwarf_read dwarf_die_at(struct dwarf *d, const struct dwarf_unit *unit, size_t offset,
                             struct dwarf_die *die) OFFCHIP_SYMBOL(dwarf_die_at);
/* Where the DIE after DIE and its children is; 0 if that cannot be found. */
size_t dwarf_after(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die)
    OFFCHIP_SYMBOL(dwarf_after);

#endif
