/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_index.h: where the functions of a file start, unit by unit: what lookups have read once.
 * It points nowhere into the file.
 */
#ifndef OFFCHIP_DWARF_INDEX_H
#define OFFCHIP_DWARF_INDEX_H

#include "common/symbol.h"
#include "formats/dwarf_die.h"
#include "formats/dwarf_signature.h"

struct dwarf_function_start {
    uint64_t vaddr;
    size_t offset; /* of the DIE, in its section */
};

/* The functions of a unit. */
struct dwarf_functions {
    size_t unit; /* where it starts */
    struct dwarf_function_start *starts;
    size_t nstarts;   /* by address, then by offset */
    size_t *unplaced; /* definitions that have no address, in their order */
    size_t nunplaced;
    bool broken; /* what is behind cannot be read */
};

/*
 * Those of UNIT, whose root is DIE; read if the index does not have them. NULL, after dwarf_fail(),
 * without memory, or if the budget is spent.
 */
const struct dwarf_functions *dwarf_index_unit(struct dwarf *d, struct dwarf_index *index,
                                               const struct dwarf_unit *unit, struct dwarf_die *die)
    OFFCHIP_SYMBOL(dwarf_index_unit);
/* The first of the starts at VADDR, or where it would be. */
size_t dwarf_first_start(const struct dwarf_functions *functions, uint64_t vaddr)
    OFFCHIP_SYMBOL(dwarf_first_start);

/*
 * Calls VISIT with each address at which a DIE says that its function starts, until one returns
 * false. False if it says none.
 */
bool dwarf_visit_starts(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                        bool (*visit)(void *argument, uint64_t vaddr), void *argument)
    OFFCHIP_SYMBOL(dwarf_visit_starts);

#endif
