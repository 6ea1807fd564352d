/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of libdpu's functions, and their addresses in a library. */
#include "dpu_table.h"

#include <string.h>

#define NAME(name) #name,

const char *const dpu_symbol_names[DPU_SYMBOL_COUNT] = {DPU_SYMBOLS(NAME) DPU_OTHER_SYMBOLS(NAME)};
const char *const dpusoft_symbol_names[DPUSOFT_SYMBOL_COUNT] = {DPUSOFT_SYMBOLS(NAME)};

int dpu_table_open(const char *path, struct dpu_table *table, struct dpusoft_table *soft,
                   struct offchip_library *lib)
{
    return offchip_library_open(path, dpu_symbol_names, DPU_SYMBOL_COUNT, table,
                                dpusoft_symbol_names, DPUSOFT_SYMBOL_COUNT, soft, lib);
}

size_t dpu_table_lacking(const struct dpu_table *table)
{
    size_t lacking = 0;

    for (size_t i = 0; i < DPU_REQUIRED_COUNT; i++) {
        void *address;
        memcpy(&address, (const char *)table + i * sizeof address, sizeof address);
        lacking += address == NULL;
    }

    return lacking;
}
