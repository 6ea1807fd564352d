/* SPDX-License-Identifier: BSD-3-Clause */
/* dwarf_types.h: the letter that says how a value of a type is passed, and names for messages. */
#ifndef OFFCHIP_DWARF_TYPES_H
#define OFFCHIP_DWARF_TYPES_H

#include <stdbool.h>

#include "common/symbol.h"
#include "formats/dwarf_die.h"

#define DWARF_TYPE_NAME 64

/*
 * The letter of a value of the type that VALUE of a DIE in UNIT refers to (NULL: no type, void);
 * 0 with a name for the type if it has none. IS_RESULT: arrays and functions do not decay.
 * Returns false, after dwarf_fail(), if the type cannot be read.
 */
bool dwarf_type_letter(struct dwarf *d, const struct dwarf_unit *unit,
                       const struct dwarf_value *value, bool is_result, char *letter,
                       char name[DWARF_TYPE_NAME]) OFFCHIP_SYMBOL(dwarf_type_letter);

/*
 * The letter of what the pointer or array type of that VALUE refers to: 0 if it is no number, or
 * cannot be read, which is no failure.
 */
char dwarf_pointee_letter(struct dwarf *d, const struct dwarf_unit *unit,
                          const struct dwarf_value *value) OFFCHIP_SYMBOL(dwarf_pointee_letter);

/*
 * The name of DIE, in plain text: it comes from the file and goes to messages. False if it has
 * none.
 */
bool dwarf_copy_name(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                     char name[DWARF_TYPE_NAME]) OFFCHIP_SYMBOL(dwarf_copy_name);

#endif
