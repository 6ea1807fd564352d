/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h: the calls that the tasklets of a DPU are in, and what passed in those that are over.
 *
 * They follow from the jumps that are executed: a call puts the address behind it into a register,
 * and a jump by a register to that address is its return. So code of any compiler will do.
 */
#ifndef OFFCHIP_DPU_PROFILE_CALLS_H
#define OFFCHIP_DPU_PROFILE_CALLS_H

#include "dpu/profile/profile.h"

struct dpu_calls;

/* Work of a tasklet since its launch began; CYCLES is the time. */
struct dpu_calls_time {
    uint64_t instructions, cycles, spin, dma, sleep;
};

/* NULL if out of memory. */
struct dpu_calls *dpu_calls_create(void);
void dpu_calls_destroy(struct dpu_calls *calls);

/* A function begins at PC: a jump to it from another one is a call too, and it returns for both. */
void dpu_calls_add_function(struct dpu_calls *calls, uint32_t pc);
void dpu_calls_forget_functions(struct dpu_calls *calls);
/* A launch begins: no tasklet is in a call. */
void dpu_calls_begin(struct dpu_calls *calls);
/* NOW is the time after the jump. */
void dpu_calls_jump(struct dpu_calls *calls, uint32_t thread, uint32_t pc, enum dpu_jump kind,
                    uint32_t target, const struct dpu_calls_time *now);
/* A tasklet is over, with all calls that it is in. */
void dpu_calls_end(struct dpu_calls *calls, uint32_t thread, const struct dpu_calls_time *now);
/* Calls TAKE for all rows, and forgets them. */
void dpu_calls_take(struct dpu_calls *calls,
                    void (*take)(void *context, const struct dpu_profile_call *call),
                    void *context);

#endif
