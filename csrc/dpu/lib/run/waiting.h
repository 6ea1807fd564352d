/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiting.h: which tasklets wait for others, and what for: at barriers, semaphores and handshakes,
 * where they sleep (programs/meetings.h), and at locks, where they spin. For operations on the DPU.
 */
#ifndef OFFCHIP_DPU_LIB_WAITING_H
#define OFFCHIP_DPU_LIB_WAITING_H

#include "common/text.h"
#include "dpu/lib/ranks/rank.h"

/* Tasklets that run. */
uint64_t dpulib_running(const struct dpu_t *dpu);
/* The tasklets of the last launch that sleep there. Quick: it is asked after every launch. */
uint64_t dpulib_sleepers(const struct dpu_t *dpu);
/* Adds what they sleep at, with places: "barrier 'b' of 4 tasklets: 0-2 wait at pc ...; missing:
 * 3". */
void dpulib_add_sleepers(struct text *text, const struct dpu_t *dpu);
/* Where tasklets run, and the locks that they spin at: "0-3 at pc ..." */
void dpulib_add_runners(struct text *text, const struct dpu_t *dpu);
/* "mutex 'm'" and its like, by the symbol of the atomic bit. */
void dpulib_add_lock(struct text *text, const struct dpu_t *dpu, uint32_t bit);

#endif
