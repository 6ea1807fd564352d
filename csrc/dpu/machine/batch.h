/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch.h: rounds in which the same tasklets take part, for engines that execute in turns. Inline:
 * where tasklets transfer much, a batch has few rounds.
 */
#ifndef OFFCHIP_DPU_BATCH_H
#define OFFCHIP_DPU_BATCH_H

#include "timing.h"

/* Instructions between two looks at the flag: a few milliseconds even if each is slow. */
#define DPU_POLL_INSTRUCTIONS 65536
#define DPU_BATCH_NEVER UINT64_MAX

/* Puts those that can issue into m->order. Returns the cycle at which one more can, or
 * UINT64_MAX. */
static inline uint64_t dpu_batch_choose(struct dpu_machine *m)
{
    uint64_t next = DPU_BATCH_NEVER;
    m->runnable = 0;
    m->regroup = false;
    for (uint32_t id = 0; id < m->thread_count; id++) {
        struct dpu_thread *t = &m->threads[id];
        if ((m->run_bits & m->eligible) >> id == 0)
            break;
        if (((m->run_bits & m->eligible) >> id & 1) == 0)
            continue;

        if (t->ready <= m->cycles)
            m->order[m->runnable++] = t;
        else if (t->ready < next)
            next = t->ready;
    }

    m->order[m->runnable] = &m->threads[DPU_MACHINE_THREADS_ROOM];
    return next;
}

/* Rounds until the given cycle is reached or passed. */
static inline uint64_t dpu_rounds_until(const struct dpu_machine *m, uint64_t cycle)
{
    uint64_t length = dpu_round_cycles(m, m->runnable);
    return cycle == DPU_BATCH_NEVER ? DPU_BATCH_NEVER : (cycle - m->cycles + length - 1) / length;
}

static inline uint64_t dpu_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many rounds they may run, at least one: to STOP and LIMIT, up to the cycle READY, and as few
 * as an interruption can wait for. */
static inline uint64_t dpu_batch_rounds(const struct dpu_machine *m, uint64_t stop, uint64_t limit,
                                        uint64_t ready)
{
    uint64_t batch = dpu_smaller(stop - m->rounds, DPU_POLL_INSTRUCTIONS / m->runnable);
    batch = dpu_smaller(batch, dpu_rounds_until(m, ready));
    return dpu_smaller(batch, dpu_rounds_until(m, limit));
}

/* They have run so many, and of one more, in which a fault happened, the first FAULTED slots. */
static inline void dpu_batch_account(struct dpu_machine *m, uint64_t rounds, uint32_t faulted)
{
    m->rounds += rounds;
    m->cycles += rounds * dpu_round_cycles(m, m->runnable);
    m->instructions += rounds * m->runnable;
    for (uint32_t i = 0; i < m->runnable; i++)
        m->order[i]->instructions += rounds;

    /* Of the round with the fault, those up to it have issued. */
    for (uint32_t i = 0; i < faulted; i++)
        m->order[i]->instructions++;

    m->instructions += faulted;
    m->cycles += dpu_issue_cycles(m, faulted);
    m->rounds_done = 0;
    m->slot = 0;
}

#endif
