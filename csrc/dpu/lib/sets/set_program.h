/* SPDX-License-Identifier: BSD-3-Clause */
/* set_program.h: the programs that DPUs have, and their symbols. */
#ifndef OFFCHIP_DPU_LIB_SET_PROGRAM_H
#define OFFCHIP_DPU_LIB_SET_PROGRAM_H

#include "dpu.h"

/*
 * Finds a symbol of the program that the DPUs of a set have; DPUs without one do not count. Else
 * DPU_ERR_NO_PROGRAM_LOADED, DPU_ERR_DIFFERENT_DPU_PROGRAMS or DPU_ERR_UNKNOWN_SYMBOL. With the
 * lock, for a set that was checked.
 */
dpu_error_t dpulib_set_symbol(const struct dpu_set_t *set, const char *name,
                              struct dpu_symbol_t *symbol);
/* Checks the set and does the same. Without the lock. */
dpu_error_t dpulib_find_symbol(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol);

#endif
