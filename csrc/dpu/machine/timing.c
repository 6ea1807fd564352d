/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.c: the clock and the performance counter. */
#include "execute.h"
#include "timing.h"

#define COUNTER_MASK ((UINT64_C(1) << 36) - 1)
enum { MODE_KEEP, MODE_CYCLES, MODE_INSTRUCTIONS, MODE_OFF };

void dpu_timing_set_up(struct dpu_machine *m)
{
    bool vendor = m->options.accounting == DPU_ACCOUNTING_VENDOR;
    uint32_t width = vendor ? 1 : m->options.issue_width, least = m->options.round_cycles;
    for (uint32_t count = 0; count <= DPU_MACHINE_THREADS_ROOM; count++) {
        uint32_t issue = (count + width - 1) / width;
        m->issue_length[count] = (uint16_t)issue;
        m->round_length[count] = (uint16_t)(vendor || issue > least ? issue : least);
    }

    bool has_banks = m->options.dram_banks != 0, has_tlb = m->options.tlb_entries != 0;
    m->transfer_time = vendor      ? DPU_TRANSFERS_NONE
                       : has_banks ? DPU_TRANSFERS_OF_BANKS
                       : has_tlb   ? DPU_TRANSFERS_TRANSLATED
                                   : DPU_TRANSFERS_FITTED;
    m->far_bits = ~7u;
    if ((m->options.switches & DPU_SWITCH_MRAM_26_BITS) != 0)
        m->far_bits &= DPU_MACHINE_MRAM - 1;
    if (m->options.cache_kib != 0)
        m->far_bits &= ~DPU_MRAM_WINDOW;
    m->read_wait = has_banks ? m->options.dram_read_return : m->options.dma_read_latency;
    m->write_wait = has_banks ? m->options.dram_write_return : m->options.dma_write_latency;
}

/* Refreshes are counted from the boot, so that a launch takes the same cycles each time. Transfers
 * come one after the other, so that most begin in the interval that was found last. */
uint64_t dpu_after_transfer(struct dpu_machine *m, uint64_t start, uint64_t cycles)
{
    uint64_t interval = m->options.dram_refresh_interval;
    uint64_t usable = interval - m->options.dram_refresh_cycles;
    if (cycles == 0)
        return start;

    if (start - m->refresh_interval >= interval)
        m->refresh_interval = start - (start - m->launch_cycles) % interval;
    uint64_t passed = start - m->refresh_interval;

    /* The last cycle of the transfer, in usable ones. */
    uint64_t last = (passed < usable ? passed : usable) + cycles - 1;
    if (last >= usable)
        last = last / usable * interval + last % usable;
    return m->refresh_interval + last + 1;
}

/* Count of the performance counter since the machine exists. */
static uint64_t clock_of(const struct dpu_machine *m, uint32_t mode)
{
    uint64_t instructions = m->instructions + m->rounds_done * m->runnable + m->slot;
    bool vendor = m->options.accounting == DPU_ACCOUNTING_VENDOR;
    return mode == MODE_CYCLES && !vendor ? dpu_now(m) : instructions;
}

uint64_t dpu_counter_value(const struct dpu_machine *m)
{
    if (m->counter.mode == MODE_OFF)
        return m->counter.value & COUNTER_MASK;
    uint64_t passed = clock_of(m, m->counter.mode) - m->counter.origin;
    return (m->counter.value + passed) & COUNTER_MASK;
}

void dpu_counter_start(struct dpu_machine *m, uint64_t value, uint32_t mode)
{
    m->counter.value = value;
    m->counter.mode = mode;
    m->counter.origin = clock_of(m, mode);
}

/*
 * time_cfg at VALUE. The vendor counts an instruction when it is over, in the mode that it found:
 * so a time_cfg counts itself unless the counter was off, or it sets it to 0.
 */
static void configure(struct dpu_machine *m, uint64_t value, uint32_t request)
{
    uint32_t old = m->counter.mode, mode = request >> 1 & 3;
    bool reset = (request & 1) != 0, vendor = m->options.accounting == DPU_ACCOUNTING_VENDOR;

    if (vendor && old != MODE_OFF)
        value++;
    dpu_counter_start(m, reset ? 0 : value, mode == MODE_KEEP ? old : mode);
    if (vendor)
        m->counter.origin++;
}

/* Flags are left as they are. */
const struct dpu_operation *dpu_execute_time(struct dpu_machine *m, struct dpu_thread *t,
                                             const struct dpu_operation *op)
{
    uint64_t value = dpu_counter_value(m);
    uint32_t x = (uint32_t)(value >> 4);
    if (op->kind == DPU_OP_TIME_CFG)
        configure(m, value, t->r[op->b]);
    if (op->destination == DPU_DEST_D64S || op->destination == DPU_DEST_D64U) {
        t->r[op->c] = op->destination == DPU_DEST_D64S && x >> 31 != 0 ? UINT32_MAX : 0;
        t->r[op->c + 1] = x;
    } else {
        t->r[op->c] = x;
    }

    bool jumps = op->tail == DPU_TAIL_JUMP && op->condition == DPU_IF_TRUE;
    return jumps ? &m->operations[op->target] : op + 1;
}
