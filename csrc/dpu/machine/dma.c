/* SPDX-License-Identifier: BSD-3-Clause */
/* dma.c: transfers between MRAM and the other memories. */
#include "cache.h"
#include "execute.h"
#include "lane.h"
#include "raise.h"
#include "remote_access.h"
#include "snapshot.h"
#include "transfer_time.h"

#include <string.h>

#include "common/copy.h"

/* The program is this machine's own: one that has ldmai is not shared. */
static void to_iram(struct dpu_machine *m, uint32_t address, uint32_t from, uint32_t bytes)
{
    dpu_remote_touch(m, DPU_REMOTE_IRAM, address, bytes, true);
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

static void write_mram(struct dpu_machine *m, uint32_t near, uint32_t far, uint32_t bytes)
{
    dpu_snapshot_keep(m, far, bytes);
    dpu_remote_touch(m, DPU_REMOTE_MRAM, far, bytes, true);
    if (UNLIKELY(dpu_is_lane(m)))
        dpu_lane_read(m, near, m->mram + far, bytes);
    else
        copy_memory(m->mram + far, m->wram + near, bytes);
}

static void read_mram(struct dpu_machine *m, uint32_t near, uint32_t far, uint32_t bytes)
{
    if (UNLIKELY(dpu_is_lane(m)))
        dpu_lane_write(m, near, m->mram + far, bytes);
    else
        copy_memory(m->wram + near, m->mram + far, bytes);
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

    if (UNLIKELY(m->options.cache_kib != 0))
        dpu_cache_before_transfer(m, t, op, far, bytes, op->kind == DPU_OP_SDMA);
    if (op->kind == DPU_OP_SDMA) {
        if (LIKELY(!m->lane_is_in_step))
            write_mram(m, near, far, bytes);
        m->dma.writes++;
        m->dma.write_bytes += bytes;
        dpu_transfer_takes(m, t, far, bytes, m->write_wait);
    } else {
        if (op->kind == DPU_OP_LDMAI)
            to_iram(m, near, far, bytes);
        else if (LIKELY(!m->lane_is_in_step))
            read_mram(m, near, far, bytes);
        m->dma.reads++;
        m->dma.read_bytes += bytes;
        dpu_transfer_takes(m, t, far, bytes, m->read_wait);
    }

    return op + 1;
}
