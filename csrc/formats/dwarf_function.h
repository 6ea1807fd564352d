/* SPDX-License-Identifier: BSD-3-Clause */
/* dwarf_function.h: what the DIE of a function says about its arguments. */
#ifndef OFFCHIP_DWARF_FUNCTION_H
#define OFFCHIP_DWARF_FUNCTION_H

#include "common/symbol.h"
#include "formats/dwarf_die.h"
#include "formats/dwarf_signature.h"

/* A concrete instance refers to an abstract one, that to a declaration: hardly ever more. */
#define DWARF_MAX_ORIGINS 16

/*
 * Goes from DIE at AT to the one it takes its other attributes from, if any: its abstract origin
 * or the declaration that it completes.
 */
bool dwarf_origin(struct dwarf *d, struct dwarf_place *at, struct dwarf_die *die, bool *is_abstract)
    OFFCHIP_SYMBOL(dwarf_origin);
/* Fills OUT for the function at PLACE; false after dwarf_fail(), or if its DIEs are broken. */
bool dwarf_describe_function(struct dwarf *d, const struct dwarf_place *place,
                             struct dwarf_signature *out) OFFCHIP_SYMBOL(dwarf_describe_function);

#endif
