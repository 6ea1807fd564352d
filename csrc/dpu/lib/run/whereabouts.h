/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whereabouts.h: where in the sources a tasklet of a DPU that stands still is. A place in the run
 * time of C programs says little, so that callers are followed up to the program's own code: by the
 * register of the return address, and by the addresses in the stack that follow a call of the
 * function.
 */
#ifndef OFFCHIP_DPU_LIB_WHEREABOUTS_H
#define OFFCHIP_DPU_LIB_WHEREABOUTS_H

#include "common/text.h"
#include "dpu/lib/ranks/rank.h"

/* "pc 0x12 (main+0x3, a.c:10)", and in the run time ", called at pc ..." */
void dpulib_add_place(struct text *text, const struct dpu_t *dpu, uint32_t thread, uint32_t pc);
/* The same for the program's own code alone. */
void dpulib_add_own_place(struct text *text, const struct dpu_t *dpu, uint32_t pc);
/* The call in the program's own code that led to PC, or PC itself. */
uint32_t dpulib_own_pc(const struct dpu_t *dpu, uint32_t thread, uint32_t pc);
/* True if C code, its own or that of the run time, is at PC. */
bool dpulib_is_c(const struct dpu_t *dpu, uint32_t pc);

/*
 * The atomic bit that the instruction at PC acquires. False if it is another instruction.
 */
bool dpulib_acquired_bit(const struct dpu_t *dpu, const struct dpu_thread_state *state,
                         uint32_t *bit);

#endif
