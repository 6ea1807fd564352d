/* SPDX-License-Identifier: BSD-3-Clause */
/* observe.c: who observes a machine, and what hooks are told about an instruction. */
#include "observe.h"

#include "access.h"
#include "execute.h"
#include "observed.h"
#include "transfer_time.h"

#include <string.h>

/* Calls a hook of all observers that have it. */
#define TELL(m, hook, ...) \
    for (struct dpu_observer *o = (m)->observers; o != NULL; o = o->next) \
        if (o->hook != NULL) \
    o->hook(o->context, (m), __VA_ARGS__)

/* --- observers --- */

static void note_interests(struct dpu_machine *m)
{
    m->observing.each = m->observing.jumps = false;
    for (const struct dpu_observer *o = m->observers; o != NULL; o = o->next) {
        if (o->instruction != NULL || o->access != NULL)
            m->observing.each = true;
        if (o->jumped != NULL)
            m->observing.jumps = true;
    }
}

void dpu_machine_observe(struct dpu_machine *m, struct dpu_observer *observer)
{
    struct dpu_observer **link = &m->observers;
    while (*link != NULL)
        link = &(*link)->next;

    *link = observer;
    observer->next = NULL;
    note_interests(m);
}

void dpu_machine_unobserve(struct dpu_machine *m, struct dpu_observer *observer)
{
    struct dpu_observer **link = &m->observers;
    while (*link != NULL && *link != observer)
        link = &(*link)->next;

    if (*link != NULL)
        *link = observer->next;
    note_interests(m);
}

void dpu_machine_count(struct dpu_machine *m, struct dpu_count *counts)
{
    m->counts = counts;
}

uint64_t dpu_machine_now(const struct dpu_machine *m)
{
    return dpu_now(m) - m->launch_cycles;
}

uint64_t dpu_machine_round_cycles(const struct dpu_machine *m)
{
    return dpu_round_cycles(m, m->runnable);
}

uint64_t dpu_machine_round_end(const struct dpu_machine *m)
{
    uint64_t rounds = m->rounds_done + 1;
    return m->cycles - m->launch_cycles + rounds * dpu_round_cycles(m, m->runnable);
}

uint64_t dpu_machine_thread_instructions(const struct dpu_machine *m, uint32_t thread)
{
    return m->threads[thread].instructions + m->rounds_done + 1;
}

/* --- instructions --- */

static bool is_memory(enum dpu_operation_kind kind, bool *writes)
{
    *writes = false;
    switch (kind) {
    case DPU_OP_SB:
    case DPU_OP_SH:
    case DPU_OP_SW:
    case DPU_OP_SD:
    case DPU_OP_SB_ID:
    case DPU_OP_SH_ID:
    case DPU_OP_SW_ID:
    case DPU_OP_SD_ID: *writes = true; return true;
    case DPU_OP_LBS:
    case DPU_OP_LBU:
    case DPU_OP_LHS:
    case DPU_OP_LHU:
    case DPU_OP_LW:
    case DPU_OP_LD: return true;
    default: return false;
    }
}

void dpu_observe_instruction(struct dpu_machine *m, struct dpu_thread *t,
                             const struct dpu_operation *op, uint32_t code)
{
    if (code == DPU_CODE_DECODE || code == DPU_CODE_WRAP || code == DPU_CODE_END_OF_ROUND)
        return;

    uint32_t pc = dpu_pc(m, op);
    t->op = op;
    TELL(m, instruction, t->id, pc);

    struct dpu_access access;
    if (!is_memory((enum dpu_operation_kind)op->kind, &access.writes))
        return;
    access.size = dpu_access_size((enum dpu_operation_kind)op->kind);
    access.address = dpu_access_address(m, t, op);
    TELL(m, access, t->id, pc, &access);
}

void dpu_observe_jump(struct dpu_machine *m, uint32_t thread, const struct dpu_operation *op,
                      uint32_t target)
{
    bool is_direct = op->code == DPU_CODE_CALL_IMM && op->a == DPU_MACHINE_REGISTERS;
    enum dpu_jump kind = op->c != DPU_SINK ? DPU_JUMP_CALL
                         : is_direct       ? DPU_JUMP_DIRECT
                                           : DPU_JUMP_BY_REGISTER;
    TELL(m, jumped, thread, dpu_pc(m, op), kind, target);
}

static struct dpu_transfer transfer_of(const struct dpu_machine *m, const struct dpu_thread *t,
                                       const struct dpu_operation *op)
{
    struct dpu_transfer transfer = {
        .writes_mram = op->kind == DPU_OP_SDMA,
        .to_iram = op->kind == DPU_OP_LDMAI,
        .issued = dpu_machine_now(m),
    };
    dpu_dma_operands(m, t, op, &transfer.near, &transfer.mram, &transfer.bytes);
    return transfer;
}

static bool is_dma(const struct dpu_operation *op)
{
    return op->kind == DPU_OP_LDMA || op->kind == DPU_OP_SDMA || op->kind == DPU_OP_LDMAI;
}

/* A tasklet that has stopped in this very round begins anew. */
static void count_boot(struct dpu_machine *m, uint32_t id)
{
    if ((m->observing.group >> id & 1) != 0)
        dpu_count_jump(dpu_counts_of(m) + id * (size_t)DPU_COUNTS,
                       (size_t)(m->threads[id].op - m->operations), 0,
                       dpu_round_cycles(m, m->runnable));
}

static void observe_run_bit(struct dpu_machine *m, struct dpu_thread *t,
                            const struct dpu_operation *op, uint32_t pc)
{
    enum dpu_run_bit_change change = op->kind == DPU_OP_BOOT      ? DPU_RUN_BIT_BOOT
                                     : op->kind == DPU_OP_RESUME  ? DPU_RUN_BIT_RESUME
                                     : op->kind == DPU_OP_CLR_RUN ? DPU_RUN_BIT_CLEAR
                                                                  : DPU_RUN_BIT_READ;
    uint32_t index = dpu_bit_index(t->r[op->a] + op->imm);
    bool was_set = index >= DPU_MACHINE_RUN_BITS || (m->run_bits >> index & 1) != 0;
    if (change == DPU_RUN_BIT_BOOT && !was_set && index < m->thread_count)
        count_boot(m, index);
    TELL(m, run_bit, t->id, pc, change, index, was_set);
}

void dpu_observe_event(struct dpu_machine *m, struct dpu_thread *t, const struct dpu_operation *op)
{
    uint32_t pc = dpu_pc(m, op), bit;
    struct dpu_transfer transfer;
    t->op = op;
    m->observing.last[t->id] = (uint16_t)pc;
    switch ((enum dpu_operation_kind)op->kind) {
    case DPU_OP_ACQUIRE:
        bit = dpu_bit_index(t->r[op->a] + op->imm);
        TELL(m, acquire, t->id, pc, bit, m->atomic[bit] == 0);
        break;
    case DPU_OP_RELEASE:
        bit = dpu_bit_index(t->r[op->a] + op->imm);
        TELL(m, release, t->id, pc, bit);
        break;
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_CLR_RUN:
    case DPU_OP_READ_RUN: observe_run_bit(m, t, op, pc); break;
    case DPU_OP_STOP: TELL(m, run_bit, t->id, pc, DPU_RUN_BIT_STOP, t->id, true); break;
    case DPU_OP_LDMA:
    case DPU_OP_SDMA:
    case DPU_OP_LDMAI:
        transfer = transfer_of(m, t, op);
        m->observing.dma_free = m->dma_free[dpu_next_dma_engine(m)];
        TELL(m, dma, t->id, pc, &transfer);
        break;
    default: break;
    }
}

void dpu_observe_event_done(struct dpu_machine *m, struct dpu_thread *t,
                            const struct dpu_operation *op)
{
    if (!is_dma(op))
        return;

    struct dpu_transfer transfer = transfer_of(m, t, op);
    uint64_t now = dpu_now(m), free = m->observing.dma_free;
    bool takes_time = m->options.accounting != DPU_ACCOUNTING_VENDOR;
    transfer.start = (takes_time && free > now ? free : now) - m->launch_cycles;
    transfer.engine_end = (takes_time ? m->dma_free[m->dma_engine] : now) - m->launch_cycles;
    transfer.tasklet_end = (takes_time ? t->ready : now) - m->launch_cycles;
    TELL(m, transferred, t->id, dpu_pc(m, op), &transfer);
}

/* By a DMA instruction, it comes before the transfer that takes the engine then. */
void dpu_observe_line(struct dpu_machine *m, uint32_t thread, uint32_t pc,
                      const struct dpu_transfer *transfer)
{
    m->observing.last[thread] = (uint16_t)pc;
    m->observing.dma_free = m->dma_free[dpu_next_dma_engine(m)];
    TELL(m, line_moved, thread, pc, transfer);
}

void dpu_observe_flush(struct dpu_machine *m, uint64_t cycles)
{
    const struct dpu_span span = {.cycles = cycles};
    TELL(m, passed, &span);
}

/* --- launches --- */

void dpu_observe_boot(struct dpu_machine *m)
{
    m->observing.group = m->observing.seen = 0;
    for (struct dpu_observer *o = m->observers; o != NULL; o = o->next)
        if (o->booted != NULL)
            o->booted(o->context, m);
}

void dpu_observe_end(struct dpu_machine *m, enum dpu_run_status status)
{
    if (status == DPU_RUN_FAULT)
        TELL(m, fault, m->fault.thread, dpu_pc(m, m->threads[m->fault.thread].op),
             (enum dpu_fault_kind)m->fault.kind);
    if (status == DPU_RUN_DONE || status == DPU_RUN_FAULT || status == DPU_RUN_CYCLE_LIMIT)
        TELL(m, ended, status);
}
