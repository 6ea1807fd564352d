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
#include "batch.h"
#include "interpreters.h"
#include "issue.h"

/* Runs m->order for at most ROUNDS and accounts for it. */
static void run_batch(struct dpu_machine *m, uint64_t rounds)
{
    uint64_t done = m->runnable > 1 ? dpu_run_ahead(m, dpu_run_ahead_one, rounds) : 0;
    uint32_t faulted = 0;
    if (done == 0) {
        bool pauses = m->runnable > 1 && m->ahead.pause < rounds;
        m->batch_rounds = pauses ? m->ahead.pause : rounds;
        faulted = m->runnable == 1 ? dpu_run_single(m) : dpu_run_rounds(m);
        done = m->batch_rounds;
    }

    dpu_batch_account(m, done, faulted);
}

static void advance(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t ready = dpu_batch_choose(m);
    if (m->runnable == 0)
        m->cycles = ready < limit ? ready : limit;
    else
        run_batch(m, dpu_issue_rounds(m, dpu_batch_rounds(m, stop, limit, ready)));
}

const struct dpu_engine dpu_engine_turns = {"turns", advance};
