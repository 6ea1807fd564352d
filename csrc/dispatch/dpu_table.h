/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_table.h: libdpu as tables of functions, one field for each, with the types of include/.
 */
#ifndef OFFCHIP_DPU_TABLE_H
#define OFFCHIP_DPU_TABLE_H

#include "dpu.h"
#include "dpu_checkpoint.h"
#include "dpu_fifo.h"
#include "dpu_log.h"
#include "dpu_management.h"
#include "dpu_program.h"
#include "dpu_symbols.h"
#include "dpusoft.h"
#include "loader.h"

#include <stdbool.h>

#define DPU_TABLE_FIELD(name) __typeof__(&name) name;
#define DPU_TABLE_COUNT(name) +1

struct dpu_table {
    DPU_SYMBOLS(DPU_TABLE_FIELD)
    DPU_OTHER_SYMBOLS(DPU_TABLE_FIELD)
};

/* Functions of the soft twin beyond it: all NULL with a vendor's library. */
struct dpusoft_table {
    DPUSOFT_SYMBOLS(DPU_TABLE_FIELD)
};

enum {
    DPU_REQUIRED_COUNT = 0 DPU_SYMBOLS(DPU_TABLE_COUNT),
    DPU_SYMBOL_COUNT = DPU_REQUIRED_COUNT DPU_OTHER_SYMBOLS(DPU_TABLE_COUNT),
    DPUSOFT_SYMBOL_COUNT = 0 DPUSOFT_SYMBOLS(DPU_TABLE_COUNT),
};

_Static_assert(sizeof(struct dpu_table) == DPU_SYMBOL_COUNT * sizeof(void *),
               "a table is an array of function pointers");
_Static_assert(sizeof(struct dpusoft_table) == DPUSOFT_SYMBOL_COUNT * sizeof(void *),
               "a table is an array of function pointers");

#undef DPU_TABLE_FIELD
#undef DPU_TABLE_COUNT

/* The names in the order of the fields; the first DPU_REQUIRED_COUNT are those that the package
 * cannot do without. */
extern const char *const dpu_symbol_names[DPU_SYMBOL_COUNT];
extern const char *const dpusoft_symbol_names[DPUSOFT_SYMBOL_COUNT];

/*
 * Opens the libdpu at PATH and fills both tables; result and LIB as of offchip_library_open().
 * A field of a function that the library lacks is NULL.
 */
int dpu_table_open(const char *path, struct dpu_table *table, struct dpusoft_table *soft,
                   struct offchip_library *lib);

/* How many of the functions in LIB->missing are among the first DPU_REQUIRED_COUNT. */
size_t dpu_table_lacking(const struct dpu_table *table);

/*
 * Traces the functions of TABLE that take time (trace.h), and ends that. False if another table is
 * traced.
 */
bool dpu_table_trace(struct dpu_table *table, struct dpusoft_table *soft);
void dpu_table_untrace(struct dpu_table *table, struct dpusoft_table *soft);

#endif
