/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_time.h: how long transfers of MRAM take, whoever issues them. */
#ifndef OFFCHIP_DPU_TRANSFER_TIME_H
#define OFFCHIP_DPU_TRANSFER_TIME_H

#include "timing.h"

/* The DMA engine that the next transfer takes. */
static inline uint32_t dpu_next_dma_engine(const struct dpu_machine *m)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i < m->options.dma_engines; i++)
        if (m->dma_free[i] < m->dma_free[next])
            next = i;
    return next;
}

/* As dpu_transfer_takes(), of chips whose transfers are not by the fitted constants alone. */
void dpu_transfer_takes_else(struct dpu_machine *machine, struct dpu_thread *t, uint32_t far,
                             uint32_t bytes, uint32_t latency);

/*
 * The tasklet is blocked until a transfer would be over: an engine does one after the other, and is
 * busy for its setup and the bytes, while the tasklet also sees the latency. Both wait WALK cycles
 * more for translations.
 */
static inline void dpu_transfer_takes_fitted(struct dpu_machine *m, struct dpu_thread *t,
                                             uint32_t far, uint32_t bytes, uint32_t latency,
                                             uint64_t walk)
{
    const struct dpu_machine_options *o = &m->options;
    uint32_t crossings = (far + bytes - 1) / DPU_DRAM_PAGE - far / DPU_DRAM_PAGE;
    uint64_t pages = (uint64_t)crossings * o->dma_page_crossing + walk;
    uint64_t busy = o->dma_setup + (uint64_t)bytes * o->dma_engine_per_kib / 1024 + pages;
    uint64_t wait = latency + (uint64_t)bytes * o->dma_latency_per_kib / 1024 + pages;

    uint64_t now = dpu_now(m);
    m->dma_engine = dpu_next_dma_engine(m);
    uint64_t *free = &m->dma_free[m->dma_engine];
    uint64_t start = *free > now ? *free : now;
    *free = dpu_after_transfer(m, start, busy);
    t->ready = dpu_after_transfer(m, start, wait);
    m->regroup = true;
}

/* T waits for a transfer of BYTES at FAR in MRAM that is issued now, and for LATENCY. Inline, as
 * programs that wait for DMA do little else. */
static inline void dpu_transfer_takes(struct dpu_machine *m, struct dpu_thread *t, uint32_t far,
                                      uint32_t bytes, uint32_t latency)
{
    if (UNLIKELY(m->transfer_time != DPU_TRANSFERS_FITTED))
        dpu_transfer_takes_else(m, t, far, bytes, latency);
    else
        dpu_transfer_takes_fitted(m, t, far, bytes, latency, 0);
}

#endif
