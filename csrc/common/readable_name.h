/* SPDX-License-Identifier: BSD-3-Clause */
/* readable_name.h: names of symbols as sources have them. Any thread. */
#ifndef OFFCHIP_READABLE_NAME_H
#define OFFCHIP_READABLE_NAME_H

#include "common/symbol.h"
#include "common/text.h"

/* Adds the name of a symbol; that of C++ with its namespaces and types if the machine has
 * libstdc++. */
void readable_name_add(struct text *text, const char *name) OFFCHIP_SYMBOL(readable_name_add);

/* The same for all names of C++ in TEXT, which has SIZE bytes: what does not fit is cut off. */
void readable_names(char *text, size_t size) OFFCHIP_SYMBOL(readable_names);

#endif
