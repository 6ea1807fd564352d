/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_table.h: libveo as tables of functions, one field for each, with the types of include/.
 */
#ifndef OFFCHIP_VEO_TABLE_H
#define OFFCHIP_VEO_TABLE_H

#include "loader.h"
#include "ve_offload.h"
#include "veo_hmem.h"
#include "veo_symbols.h"
#include "veosoft.h"

#include <stdbool.h>

#define VEO_TABLE_FIELD(name) __typeof__(&name) name;
#define VEO_TABLE_COUNT(name) +1

/* Functions that every libveo of version 16 has. */
struct veo_table {
    VEO_SYMBOLS(VEO_TABLE_FIELD)
};

/* Functions of the soft twin beyond it: all NULL with a vendor's library. */
struct veosoft_table {
    VEOSOFT_SYMBOLS(VEO_TABLE_FIELD)
};

enum {
    VEO_SYMBOL_COUNT = 0 VEO_SYMBOLS(VEO_TABLE_COUNT),
    VEOSOFT_SYMBOL_COUNT = 0 VEOSOFT_SYMBOLS(VEO_TABLE_COUNT),
};

_Static_assert(sizeof(struct veo_table) == VEO_SYMBOL_COUNT * sizeof(void *),
               "a table is an array of function pointers");
_Static_assert(sizeof(struct veosoft_table) == VEOSOFT_SYMBOL_COUNT * sizeof(void *),
               "a table is an array of function pointers");

#undef VEO_TABLE_FIELD
#undef VEO_TABLE_COUNT

/* The names in the order of the fields. */
extern const char *const veo_symbol_names[VEO_SYMBOL_COUNT];
extern const char *const veosoft_symbol_names[VEOSOFT_SYMBOL_COUNT];

/*
 * Opens the libveo at PATH and fills both tables; result and LIB as of offchip_library_open().
 * A field of a function that the library lacks is NULL.
 */
int veo_table_open(const char *path, struct veo_table *table, struct veosoft_table *soft,
                   struct offchip_library *lib);

/*
 * Traces the functions of TABLE that take time (trace.h), and ends that. False if another table is
 * traced.
 */
bool veo_table_trace(struct veo_table *table, struct veosoft_table *soft);
void veo_table_untrace(struct veo_table *table, struct veosoft_table *soft);

#endif
