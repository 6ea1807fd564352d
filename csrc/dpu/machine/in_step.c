/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * in_step.c: machines whose events are the same, at the same times.
 *
 * As long as that is so, one window is enough for all: that of the leader. Its machine has the
 * bits, the times and the counts; the others have registers and memories, in which they may differ.
 */
#include "execute.h"
#include "lane.h"
#include "lockstep_state.h"
#include "snapshot.h"

#include <stddef.h>

/* Bytes of struct dpu_progress that are shared: from its beginning up to the fault. */
#define SHARED offsetof(struct dpu_progress, fault)

static struct dpu_lockstep *lockstep_of(const struct dpu_in_step *group)
{
    return (struct dpu_lockstep *)(void *)((char *)(uintptr_t)group -
                                           offsetof(struct dpu_lockstep, in_step));
}

static uint32_t others(const struct dpu_lockstep *s)
{
    return s->here & ~(1u << s->leader);
}

/* --- state --- */

static bool have_equal_tasklets(const struct dpu_machine *a, const struct dpu_machine *b)
{
    for (uint32_t id = 0; id < a->thread_count; id++) {
        const struct dpu_thread *t = &a->threads[id], *u = &b->threads[id];
        if (t->op != u->op || t->ready != u->ready || t->instructions != u->instructions)
            return false;
    }

    return true;
}

static bool are_equal(const struct dpu_lane *a, const struct dpu_lane *b)
{
    const struct dpu_machine *m = a->m, *n = b->m;
    return a->stop == b->stop && a->limit == b->limit && m->cycles == n->cycles &&
           m->launch_cycles == n->launch_cycles && m->launch_rounds == n->launch_rounds &&
           memcmp(&m->progress, &n->progress, SHARED) == 0 && have_equal_tasklets(m, n);
}

/* Other times of transfers depend on addresses. */
bool dpu_in_step_begins(struct dpu_lockstep *s)
{
    const struct dpu_lane *first = &s->lanes[s->leader];
    if ((s->here & (s->here - 1)) == 0 || dpu_transfers_leave_state(first->m))
        return false;

    for (uint32_t left = others(s); left != 0; left &= left - 1)
        if (!are_equal(first, &s->lanes[dpu_first_thread(left)]))
            return false;
    return true;
}

void dpu_in_step_share(struct dpu_lockstep *s)
{
    const struct dpu_machine *m = s->lanes[s->leader].m;
    for (uint32_t left = others(s); left != 0; left &= left - 1) {
        struct dpu_machine *n = s->lanes[dpu_first_thread(left)].m;
        memcpy(&n->progress, &m->progress, SHARED);
        for (uint32_t id = 0; id < m->thread_count; id++) {
            n->threads[id].ready = m->threads[id].ready;
            n->threads[id].instructions = m->threads[id].instructions;
        }

        n->refresh_interval = m->refresh_interval;
        n->runnable = m->runnable;
    }

    for (uint32_t left = s->here; left != 0; left &= left - 1)
        s->lanes[dpu_first_thread(left)].m->lane_is_in_step = false;
}

void dpu_in_step_part(struct dpu_lockstep *s)
{
    dpu_in_step_share(s);
    struct dpu_lane *first = &s->lanes[s->leader];
    first->window.in_step = NULL;
    for (uint32_t left = others(s); left != 0; left &= left - 1) {
        struct dpu_lane *lane = &s->lanes[dpu_first_thread(left)];
        lane->window = first->window;
        lane->window.m = lane->m;
    }
}

/* --- events --- */

/* A transfer that takes the same time for all, from or to the same place. */
static bool may_transfer(const struct dpu_lockstep *s, uint32_t id, const struct dpu_operation *op)
{
    const struct dpu_machine *m = s->lanes[s->leader].m;
    uint32_t crossings = 0;
    for (uint32_t left = s->here; left != 0; left &= left - 1) {
        const struct dpu_machine *n = s->lanes[dpu_first_thread(left)].m;
        const struct dpu_thread *t = &n->threads[id];
        uint32_t near, far, bytes, a = t->r[op->a], b = t->r[op->b];
        dpu_dma_operands(n, t, op, &near, &far, &bytes);
        uint32_t here = (far + bytes - 1) / DPU_DRAM_PAGE - far / DPU_DRAM_PAGE;
        if (left == s->here)
            crossings = here;
        if (a != m->threads[id].r[op->a] || here != crossings || near + bytes > m->wram_size ||
            (uint64_t)far + bytes > m->mram_size ||
            ((m->options.switches & DPU_SWITCH_DMA_ALIGNMENT_FAULTS) != 0 && ((a | b) & 7) != 0))
            return false;
    }

    return true;
}

/* True if a register of the tasklet has the same value for all. */
static bool is_equal(const struct dpu_lockstep *s, uint32_t id, uint32_t index)
{
    uint32_t value = s->lanes[s->leader].m->threads[id].r[index];
    for (uint32_t left = others(s); left != 0; left &= left - 1)
        if (s->lanes[dpu_first_thread(left)].m->threads[id].r[index] != value)
            return false;
    return true;
}

static bool may(const struct dpu_in_step *group, struct dpu_window *w, uint32_t id)
{
    const struct dpu_lockstep *s = lockstep_of(group);
    const struct dpu_operation *op = w->m->threads[id].op;
    switch ((enum dpu_operation_kind)op->kind) {
    case DPU_OP_LDMA:
    case DPU_OP_SDMA: return op->code == DPU_CODE_THREAD_ANY && may_transfer(s, id, op);
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_READ_RUN:
    case DPU_OP_ACQUIRE:
    case DPU_OP_RELEASE:
        /* These conditions are about a flag, which is of each. */
        return op->condition != DPU_IF_XZ && op->condition != DPU_IF_XNZ && is_equal(s, id, op->a);
    case DPU_OP_STOP:
    case DPU_OP_TIME: return true;
    case DPU_OP_TIME_CFG: return is_equal(s, id, op->b);
    default: return false;
    }
}

static void transfer(struct dpu_lockstep *s, uint32_t id, const struct dpu_operation *op)
{
    uint8_t *memories[DPU_LOCKSTEP_MOST];
    uint32_t near = 0, far, bytes = 0;
    for (uint32_t left = s->here; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        struct dpu_machine *m = s->lanes[i].m;
        dpu_dma_operands(m, &m->threads[id], op, &near, &far, &bytes);
        memories[i] = m->mram + far;
        if (op->kind == DPU_OP_SDMA)
            dpu_snapshot_keep(m, far, bytes);
    }

    uint8_t *rows = s->wram + (size_t)near * s->code->lanes;
    if (op->kind == DPU_OP_SDMA)
        s->code->move_out(rows, memories, bytes, s->here);
    else
        s->code->move_in(rows, memories, bytes, s->here);
}

static void did(const struct dpu_in_step *group, struct dpu_window *w, uint32_t id,
                const struct dpu_operation *op)
{
    struct dpu_lockstep *s = lockstep_of(group);
    const struct dpu_thread *t = &w->m->threads[id];
    const bool transfers = op->kind == DPU_OP_LDMA || op->kind == DPU_OP_SDMA;
    const bool tells_time = op->kind == DPU_OP_TIME || op->kind == DPU_OP_TIME_CFG;
    const uint32_t booted = dpu_bit_index(t->r[op->a] + op->imm);
    for (uint32_t left = others(s); left != 0; left &= left - 1) {
        struct dpu_machine *n = s->lanes[dpu_first_thread(left)].m;
        struct dpu_thread *u = &n->threads[id];
        u->op = t->op;
        if (tells_time) {
            u->r[op->c] = t->r[op->c];
            if (op->destination == DPU_DEST_D64S || op->destination == DPU_DEST_D64U)
                u->r[op->c + 1] = t->r[op->c + 1];
        } else if (!transfers && op->kind != DPU_OP_STOP) {
            u->zero = t->zero;
        }
        if (op->kind == DPU_OP_BOOT && t->zero == 0 && booted < n->thread_count)
            n->threads[booted].op = w->m->threads[booted].op;
    }

    if (transfers)
        transfer(s, id, op);
}

const struct dpu_in_step dpu_in_step_events = {may, did};
