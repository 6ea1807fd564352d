/* SPDX-License-Identifier: BSD-3-Clause */
/* prelude.h: the text that generated code begins with: the tables' names, and what instructions
 * compute. */
#ifndef OFFCHIP_DPU_PRELUDE_H
#define OFFCHIP_DPU_PRELUDE_H

#include <stdint.h>
#include <stdio.h>

/* For machines with these switches and so much WRAM. */
void dpu_write_prelude(FILE *out, uint32_t switches, uint32_t wram_size, uint32_t lanes);

/* OPERATION and CONDITION as they are called in the tables: ADD, NZ. */
const char *dpu_operation_name(uint32_t kind);
const char *dpu_condition_word(uint32_t condition);

#endif
