/* SPDX-License-Identifier: BSD-3-Clause */
/* dma.c: transfers between MRAM and the other memories. */
#include "execute.h"
#include "raise.h"
#include "snapshot.h"
#include "timing.h"
#include "tlb.h"

#include <string.h>

#include "common/copy.h"

uint32_t dpu_next_dma_engine(const struct dpu_machine *m)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i < m->options.dma_engines; i++)
        if (m->dma_free[i] < m->dma_free[next])
            next = i;
    return next;
}

/*
 * The data moves now. The tasklet is blocked until the transfer would be over: an engine does
 * one after the other, and is busy for its setup and the bytes, while the tasklet also sees the
 * latency. Both wait WALK cycles more for translations.
 */
static inline void block_fitted(struct dpu_machine *m, struct dpu_thread *t, uint32_t far,
                                uint32_t bytes, uint32_t latency, uint64_t walk)
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

/* Of other chips. Not inline, so that it costs the usual one no registers. */
__attribute__((noinline)) static void block_otherwise(struct dpu_machine *m, struct dpu_thread *t,
                                                      uint32_t far, uint32_t bytes, uint32_t wait)
{
    if (m->transfer_time == DPU_TRANSFERS_NONE)
        return;

    uint64_t walk = dpu_tlb_walk(m, far, bytes);
    if (m->transfer_time == DPU_TRANSFERS_TRANSLATED) {
        block_fitted(m, t, far, bytes, wait, walk);
        return;
    }

    const struct dpu_request request = {
        .issued = dpu_now(m),
        .thread = t->id,
        .far = far,
        .bytes = bytes,
        .wait = wait,
        .setup = m->options.dram_setup + walk,
    };
    m->dma_engine = dpu_next_dma_engine(m);
    dpu_dram_transfer(m, &request);
    m->regroup = true;
}

static void block(struct dpu_machine *m, struct dpu_thread *t, uint32_t far, uint32_t bytes,
                  uint32_t latency)
{
    if (UNLIKELY(m->transfer_time != DPU_TRANSFERS_FITTED))
        block_otherwise(m, t, far, bytes, latency);
    else
        block_fitted(m, t, far, bytes, latency, 0);
}

/* The program is this machine's own: one that has ldmai is not shared. */
static void to_iram(struct dpu_machine *m, uint32_t address, uint32_t from, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; done += 8) {
        uint64_t word;
        memcpy(&word, m->mram + from + done, 8);
        uint32_t index = (address + done) / 8;
        m->iram[index] = word & DPU_WORD_MASK;
        m->operations[index].code = DPU_CODE_DECODE;
        if (m->iram_used <= index)
            m->iram_used = index + 1;
    }
}

const struct dpu_operation *dpu_execute_dma(struct dpu_machine *m, struct dpu_thread *t,
                                            const struct dpu_operation *op)
{
    uint32_t a = t->r[op->a], b = t->r[op->b], switches = m->options.switches;
    uint32_t near, far, bytes;
    dpu_dma_operands(m, t, op, &near, &far, &bytes);
    uint32_t near_size = op->kind == DPU_OP_LDMAI ? 8 * m->iram_size : m->wram_size;
    bool misaligned = (switches & DPU_SWITCH_DMA_ALIGNMENT_FAULTS) != 0 && ((a | b) & 7) != 0;
    bool near_fits = (uint64_t)near + bytes <= near_size;
    if (!near_fits || (uint64_t)far + bytes > m->mram_size || misaligned) {
        bool out_of_bounds = !near_fits || (uint64_t)far + bytes > m->mram_size;
        bool near_is_wrong = out_of_bounds ? !near_fits : (a & 7) != 0;
        m->fault.address = near_is_wrong ? a & 0xFFFFFF : b;
        dpu_raise(m, t, op, DPU_FAULT_DMA);
        m->fault.detail = !out_of_bounds  ? DPU_FAULT_DETAIL_MISALIGNED
                          : near_is_wrong ? DPU_FAULT_DETAIL_BOUNDS
                                          : DPU_FAULT_DETAIL_MRAM_BOUNDS;
        m->fault.bytes = bytes;
        return NULL;
    }

    if (op->kind == DPU_OP_SDMA) {
        dpu_snapshot_keep(m, far, bytes);
        copy_memory(m->mram + far, m->wram + near, bytes);
        m->dma.writes++;
        m->dma.write_bytes += bytes;
        block(m, t, far, bytes, m->write_wait);
    } else {
        if (op->kind == DPU_OP_LDMAI)
            to_iram(m, near, far, bytes);
        else
            copy_memory(m->wram + near, m->mram + far, bytes);
        m->dma.reads++;
        m->dma.read_bytes += bytes;
        block(m, t, far, bytes, m->read_wait);
    }

    return op + 1;
}
