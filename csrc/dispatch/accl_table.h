/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl_table.h: accl.h as a table of functions, one field for each, with the types of include/.
 */
#ifndef OFFCHIP_ACCL_TABLE_H
#define OFFCHIP_ACCL_TABLE_H

#include "accl.h"
#include "accl_symbols.h"
#include "loader.h"

#include <stdbool.h>

#define ACCL_TABLE_FIELD(name) __typeof__(&name) name;
#define ACCL_TABLE_COUNT(name) +1

/* Functions that every library with this interface has; those that it cannot do return
 * ACCL_UNSUPPORTED. */
struct accl_table {
    ACCL_SYMBOLS(ACCL_TABLE_FIELD)
};

enum {
    ACCL_SYMBOL_COUNT = 0 ACCL_SYMBOLS(ACCL_TABLE_COUNT),
};

_Static_assert(sizeof(struct accl_table) == ACCL_SYMBOL_COUNT * sizeof(void *),
               "a table is an array of function pointers");

#undef ACCL_TABLE_FIELD
#undef ACCL_TABLE_COUNT

/* The names in the order of the fields. */
extern const char *const accl_symbol_names[ACCL_SYMBOL_COUNT];

/*
 * Opens the library at PATH and fills the table; result and LIB as of offchip_library_open().
 * A field of a function that the library lacks is NULL.
 */
int accl_table_open(const char *path, struct accl_table *table, struct offchip_library *lib);

/*
 * Traces the functions of TABLE that take time (trace.h), and ends that. False if another table is
 * traced.
 */
bool accl_table_trace(struct accl_table *table);
void accl_table_untrace(struct accl_table *table);

#endif
