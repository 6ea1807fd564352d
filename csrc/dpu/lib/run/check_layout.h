/* SPDX-License-Identifier: BSD-3-Clause */
/* check_layout.h: where the variables and the stacks of a program are, from its symbols. */
#ifndef OFFCHIP_DPU_LIB_CHECK_LAYOUT_H
#define OFFCHIP_DPU_LIB_CHECK_LAYOUT_H

#include "common/text.h"
#include "dpu/checks/checks.h"
#include "formats/dpu_elf.h"

#include <stdbool.h>
#include <stdint.h>

/* The areas are allocated: free() them. False if out of memory. */
bool dpulib_check_layout(const struct dpu_elf *elf, struct dpu_check_layout *layout,
                         struct dpu_check_area **wram, struct dpu_check_area **mram);
/* The stack of a tasklet; of size 0 if the program has none or does not say. */
struct dpu_check_area dpulib_stack_of(const struct dpu_elf *elf, uint32_t tasklet);
/* Adds the remedy for a stack that is too small. */
void dpulib_add_stack_remedy(struct text *text, uint32_t tasklet);
/* "'name' + 4", "the stack of tasklet 2", "the heap + 16" or "MRAM at 0x...". */
void dpulib_add_variable(struct text *text, const struct dpu_elf *elf, uint32_t address,
                         bool in_mram);
/*
 * True if a finding is how the run time works, which a program can do nothing about. UPMEM's
 * allocator reads the last byte that it will return, before it is taken from the heap, tasklets
 * that leave a barrier use the table of those that wait with nothing that orders them, and
 * seqread.h reads whole pages of MRAM, around and beyond what is asked for.
 */
bool dpulib_is_of_run_time(const struct dpu_elf *elf, const struct dpu_finding *finding);

#endif
