/* SPDX-License-Identifier: BSD-3-Clause */
/* execute_thread.c: run bits and what goes with them, atomic bits, faults, the time. */
#include "execute.h"
#include "raise.h"

/* The conditions of these forms, on the old value x of a bit and the source register. */
static bool holds(const struct dpu_thread *t, const struct dpu_operation *op, uint32_t x,
                  uint32_t source)
{
    switch ((enum dpu_condition)op->condition) {
    case DPU_IF_TRUE: return true;
    case DPU_IF_Z: return x == 0;
    case DPU_IF_NZ: return x != 0;
    case DPU_IF_XZ: return x == 0 && t->zero == 0;
    case DPU_IF_XNZ: return !(x == 0 && t->zero == 0);
    case DPU_IF_SZ: return source == 0;
    case DPU_IF_SNZ: return source != 0;
    case DPU_IF_SPL: return source >> 31 == 0;
    case DPU_IF_SMI: return source >> 31 != 0;
    default: return false;
    }
}

static const struct dpu_operation *next_of(struct dpu_machine *m, const struct dpu_operation *op,
                                           bool jumps)
{
    return jumps ? &m->operations[op->target] : op + 1;
}

static void start(struct dpu_machine *m, uint32_t index)
{
    m->threads[index].ready = 0;
    m->regroup = true;
}

/* boot, resume, clr_run, read_run. Indexes from 24 on are notification bits, if there are no such
 * tasklets; 64 reads as set. */
static const struct dpu_operation *execute_run_bit(struct dpu_machine *m, struct dpu_thread *t,
                                                   const struct dpu_operation *op)
{
    uint32_t a = t->r[op->a], index = dpu_bit_index(a + op->imm);
    bool exists =
        index < DPU_MACHINE_RUN_BITS && (index >= DPU_MACHINE_THREADS || index < m->thread_count);
    uint64_t bit = exists ? UINT64_C(1) << index : 0;
    uint32_t old = index == DPU_MACHINE_RUN_BITS || (m->run_bits & bit) != 0;
    bool tasklet = index < m->thread_count;
    switch (op->kind) {
    case DPU_OP_BOOT:
        if (tasklet && !old)
            m->threads[index].op = m->operations;
        /* fallthrough */
    case DPU_OP_RESUME:
        m->run_bits |= bit;
        if (tasklet && !old)
            start(m, index);
        break;
    case DPU_OP_CLR_RUN:
        if (tasklet && old && (m->options.switches & DPU_SWITCH_CLR_RUN_KEEPS_RUNNING) != 0)
            break;
        m->run_bits &= ~bit;
        m->regroup = true;
        break;
    default: break;
    }

    bool jumps = holds(t, op, old, a);
    t->zero = old;
    return next_of(m, op, jumps);
}

static const struct dpu_operation *execute_atomic(struct dpu_machine *m, struct dpu_thread *t,
                                                  const struct dpu_operation *op)
{
    uint32_t a = t->r[op->a], index = dpu_bit_index(a + op->imm), old = m->atomic[index];
    m->atomic[index] = op->kind == DPU_OP_ACQUIRE;
    bool jumps = holds(t, op, old, a);
    t->zero = old;
    return next_of(m, op, jumps);
}

const struct dpu_operation *dpu_execute_thread(struct dpu_machine *m, struct dpu_thread *t,
                                               const struct dpu_operation *op)
{
    switch (op->kind) {
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_CLR_RUN:
    case DPU_OP_READ_RUN: return execute_run_bit(m, t, op);
    case DPU_OP_ACQUIRE:
    case DPU_OP_RELEASE: return execute_atomic(m, t, op);
    case DPU_OP_STOP:
        m->run_bits &= ~(UINT64_C(1) << t->id);
        m->regroup = true;
        return next_of(m, op, holds(t, op, 1, t->id));
    case DPU_OP_FAULT:
        m->fault.breakpoint = op->imm & 0xFFFFFF;
        return dpu_raise(m, t, op, DPU_FAULT_BREAKPOINT);
    case DPU_OP_LDMA:
    case DPU_OP_SDMA:
    case DPU_OP_LDMAI: return dpu_execute_dma(m, t, op);
    case DPU_OP_TIME:
    case DPU_OP_TIME_CFG: return dpu_execute_time(m, t, op);
    case DPU_OP_SWAPD: {
        uint32_t high = t->r[op->b];
        t->r[op->c] = t->r[op->b + 1];
        t->r[op->c + 1] = high;
        return next_of(m, op, op->condition == DPU_IF_TRUE);
    }

    default: return op + 1;
    }
}
