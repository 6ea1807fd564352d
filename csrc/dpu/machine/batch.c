/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include "timing.h"

/* Instructions between two looks at the flag: a few milliseconds even if each is slow. */
#define POLL_INSTRUCTIONS 65536
#define NEVER UINT64_MAX

uint64_t dpu_batch_choose(struct dpu_machine *m)
{
    uint64_t next = NEVER;
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

    m->order[m->runnable] = &m->threads[DPU_MACHINE_THREADS];
    return next;
}

/* Rounds until the given cycle is reached or passed. */
static uint64_t rounds_until(const struct dpu_machine *m, uint64_t cycle)
{
    uint64_t length = dpu_round_cycles(m, m->runnable);
    return cycle == NEVER ? NEVER : (cycle - m->cycles + length - 1) / length;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t dpu_batch_rounds(const struct dpu_machine *m, uint64_t stop, uint64_t limit,
                          uint64_t ready)
{
    uint64_t batch = smaller(stop - m->rounds, POLL_INSTRUCTIONS / m->runnable);
    batch = smaller(batch, rounds_until(m, ready));
    return smaller(batch, rounds_until(m, limit));
}

void dpu_batch_account(struct dpu_machine *m, uint64_t rounds, uint32_t faulted)
{
    m->rounds += rounds;
    m->cycles += rounds * dpu_round_cycles(m, m->runnable);
    m->instructions += rounds * m->runnable;
    for (uint32_t i = 0; i < m->runnable; i++)
        m->order[i]->instructions += rounds;

    /* Of the round with the fault, those up to it have issued, one a cycle. */
    for (uint32_t i = 0; i < faulted; i++)
        m->order[i]->instructions++;

    m->instructions += faulted;
    m->cycles += faulted;
    m->rounds_done = 0;
    m->slot = 0;
}
