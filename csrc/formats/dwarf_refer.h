/* SPDX-License-Identifier: BSD-3-Clause */
/* dwarf_refer.h: from a reference to the DIE that it names, in any unit. */
#ifndef OFFCHIP_DWARF_REFER_H
#define OFFCHIP_DWARF_REFER_H

#include <stdbool.h>

#include "common/symbol.h"
#include "formats/dwarf_die.h"

/* The DIE that VALUE refers to; FROM may be the unit in *TO. False if there is none. */
bool dwarf_refer(struct dwarf *d, const struct dwarf_unit *from, const struct dwarf_value *value,
                 struct dwarf_place *to) OFFCHIP_SYMBOL(dwarf_refer);

#endif
