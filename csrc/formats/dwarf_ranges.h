/* SPDX-License-Identifier: BSD-3-Clause */
/* dwarf_ranges.h: lists of address ranges, and how a location says that a variable is passed. */
#ifndef OFFCHIP_DWARF_RANGES_H
#define OFFCHIP_DWARF_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "formats/dwarf_cursor.h"
#include "formats/dwarf_die.h"

/* The ranges of a DIE one by one. */
struct dwarf_ranges {
    struct dwarf_cursor cursor;
    uint64_t base;
    bool lists; /* DWARF 5 encoding */
};

bool dwarf_ranges_of(const struct dwarf *d, const struct dwarf_unit *unit,
                     const struct dwarf_value *value, struct dwarf_ranges *ranges)
    OFFCHIP_SYMBOL(dwarf_ranges_of);
/* 1: a range, 0: the end, -1: broken. */
int dwarf_ranges_next(struct dwarf *d, const struct dwarf_unit *unit, struct dwarf_ranges *ranges,
                      uint64_t *begin, uint64_t *end) OFFCHIP_SYMBOL(dwarf_ranges_next);

/* How a variable of Fortran was passed, as its location at the start of the function says. */
enum dwarf_passing { DWARF_UNKNOWN, DWARF_BY_VALUE, DWARF_BY_REFERENCE };
enum dwarf_passing dwarf_passing(struct dwarf *d, const struct dwarf_unit *unit,
                                 const struct dwarf_value *location) OFFCHIP_SYMBOL(dwarf_passing);

#endif
