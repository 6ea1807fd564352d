/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_elf.h: symbols of DPU programs, as dpu_program.h shows them. */
#ifndef DPU_ELF_H
#define DPU_ELF_H

#include "dpu_error.h"

#define EM_DPU 245

typedef struct _dpu_elf_symbol_t {
    char *name;
    unsigned int value;
    unsigned int size;
} dpu_elf_symbol_t;

typedef struct _dpu_elf_symbols_t {
    unsigned int nr_symbols;
    dpu_elf_symbol_t *map;
} dpu_elf_symbols_t;

#endif
