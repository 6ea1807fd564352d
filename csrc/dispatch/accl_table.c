/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the functions of accl.h, and their addresses in a library. */
#include "accl_table.h"

#define NAME(name) #name,

const char *const accl_symbol_names[ACCL_SYMBOL_COUNT] = {ACCL_SYMBOLS(NAME)};

int accl_table_open(const char *path, struct accl_table *table, struct offchip_library *lib)
{
    return offchip_library_open(path, accl_symbol_names, ACCL_SYMBOL_COUNT, table, NULL, 0, NULL,
                                lib);
}
