/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * turns.c: the engine that executes instructions in exactly the order of rounds and ids.
 *
 * Rounds are run in batches in which nothing changes: a batch ends when a tasklet starts, stops
 * or waits for DMA, when one comes back from DMA, at the limit of cycles, and often enough for an
 * interruption to be noticed. So the interpreters count nothing but rounds.
 */
#include "turns.h"

#include "ahead.h"
#include "interpreters.h"
#include "timing.h"

/* Instructions between two looks at the flag: a few milliseconds even if each is slow. */
#define POLL_INSTRUCTIONS 65536
#define NEVER UINT64_MAX

/* Puts those that can issue into m->order. Returns the cycle at which one more can. */
static uint64_t choose_runnable(struct dpu_machine *m)
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

/* Runs m->order for at most ROUNDS and accounts for it. */
static void run_batch(struct dpu_machine *m, uint64_t rounds)
{
    uint64_t done = m->runnable > 1 ? dpu_run_ahead(m, rounds) : 0;
    uint32_t faulted = 0;
    if (done == 0) {
        m->batch_rounds = m->runnable > 1 ? smaller(rounds, m->ahead.pause) : rounds;
        faulted = m->runnable == 1 ? dpu_run_single(m) : dpu_run_rounds(m);
        done = m->batch_rounds;
    }

    m->rounds += done;
    m->cycles += done * dpu_round_cycles(m, m->runnable);
    m->instructions += done * m->runnable;
    for (uint32_t i = 0; i < m->runnable; i++)
        m->order[i]->instructions += done;

    /* Of the round with the fault, those up to it have issued, one a cycle. */
    for (uint32_t i = 0; i < faulted; i++)
        m->order[i]->instructions++;

    m->instructions += faulted;
    m->cycles += faulted;
    m->rounds_done = 0;
    m->slot = 0;
}

static void advance(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t ready = choose_runnable(m);
    if (m->runnable == 0) {
        m->cycles = smaller(ready, limit);
        return;
    }

    uint64_t batch = smaller(stop - m->rounds, POLL_INSTRUCTIONS / m->runnable);
    batch = smaller(batch, rounds_until(m, ready));
    batch = smaller(batch, rounds_until(m, limit));
    run_batch(m, batch);
}

const struct dpu_engine dpu_engine_turns = {"turns", advance};
