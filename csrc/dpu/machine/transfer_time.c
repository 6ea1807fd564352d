/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer_time.h"

#include "tlb.h"

void dpu_transfer_takes_else(struct dpu_machine *m, struct dpu_thread *t, uint32_t far,
                             uint32_t bytes, uint32_t latency)
{
    if (m->transfer_time == DPU_TRANSFERS_NONE)
        return;

    uint64_t walk = dpu_tlb_walk(m, far, bytes);
    if (m->transfer_time == DPU_TRANSFERS_TRANSLATED) {
        dpu_transfer_takes_fitted(m, t, far, bytes, latency, walk);
        return;
    }

    const struct dpu_request request = {
        .issued = dpu_now(m),
        .thread = t->id,
        .far = far,
        .bytes = bytes,
        .wait = latency,
        .setup = m->options.dram_setup + walk,
    };
    m->dma_engine = dpu_next_dma_engine(m);
    dpu_dram_transfer(m, &request);
    m->regroup = true;
}
