/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tlb.h: what translation of MRAM addresses would take: pages that a translation lookaside buffer
 * has cost nothing, others a walk each, which the transfer waits for. Addresses stay what they are.
 *
 * The buffer is fully associative, replaces the page that was not used for longest, and is empty
 * when a launch begins.
 */
#ifndef OFFCHIP_DPU_TLB_H
#define OFFCHIP_DPU_TLB_H

#include "dpu/machine/options.h"

#include <stdint.h>

struct dpu_tlb {
    uint32_t count;
    uint32_t pages[DPU_TLB_ENTRIES_MOST]; /* the last used first */
};

struct dpu_machine;

/* Empties it. */
void dpu_tlb_reset(struct dpu_machine *machine);
/* Cycles of the walks that a transfer of BYTES at FAR, which is issued now, waits for. */
uint64_t dpu_tlb_walk(struct dpu_machine *machine, uint32_t far, uint32_t bytes);

#endif
