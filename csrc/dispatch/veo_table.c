/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of libveo's functions, and their addresses in a library. */
#include "veo_table.h"

#define NAME(name) #name,

const char *const veo_symbol_names[VEO_SYMBOL_COUNT] = {VEO_SYMBOLS(NAME)};
const char *const veosoft_symbol_names[VEOSOFT_SYMBOL_COUNT] = {VEOSOFT_SYMBOLS(NAME)};

int veo_table_open(const char *path, struct veo_table *table, struct veosoft_table *soft,
                   struct offchip_library *lib)
{
    return offchip_library_open(path, veo_symbol_names, VEO_SYMBOL_COUNT, table,
                                veosoft_symbol_names, VEOSOFT_SYMBOL_COUNT, soft, lib);
}
