/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * observed.c: the engine of machines that are observed: turns. Tasklets run ahead if no hook is to
 * be called for each instruction: what others notice is still in the order in which the pipeline
 * issues, and jumps are counted and told of afterwards. It also notes who waits, and for how long.
 */
#include "observed.h"

#include "ahead.h"
#include "batch.h"
#include "interpreters.h"
#include "issue.h"
#include "timing.h"

#include <stdlib.h>

/* Jumps of a tasklet: in each round one, and in the first also one from behind the last
 * instruction. */
#define TRAIL (DPU_AHEAD_MOST + 2)

static void tell_wait(struct dpu_machine *m, uint32_t id)
{
    struct dpu_observing *seen = &m->observing;
    if (seen->why[id] == DPU_OBSERVED_ELSE)
        return;

    enum dpu_wait why = seen->why[id] == DPU_OBSERVED_DMA ? DPU_WAIT_DMA : DPU_WAIT_SLEEP;
    uint64_t since = seen->since[id], until = m->cycles - m->launch_cycles;
    for (struct dpu_observer *o = m->observers; o != NULL; o = o->next)
        if (o->waited != NULL)
            o->waited(o->context, m, id, seen->last[id], why, since, until);
}

/* Notes which tasklets have left the group since the batch before, and which take part again. */
static void note_group(struct dpu_machine *m)
{
    struct dpu_observing *seen = &m->observing;
    uint64_t group = 0;
    for (uint32_t i = 0; i < m->runnable; i++)
        group |= UINT64_C(1) << m->order[i]->id;
    if (group == seen->group)
        return;

    for (uint64_t left = seen->group & ~group; left != 0; left &= left - 1) {
        uint32_t id = dpu_first_thread(left);
        bool runs = (m->run_bits >> id & 1) != 0;
        seen->since[id] = m->cycles - m->launch_cycles;
        seen->why[id] = !runs                              ? DPU_OBSERVED_SLEEP
                        : m->threads[id].ready > m->cycles ? DPU_OBSERVED_DMA
                                                           : DPU_OBSERVED_ELSE;
    }

    for (uint64_t came = group & ~seen->group & seen->seen; came != 0; came &= came - 1)
        tell_wait(m, dpu_first_thread(came));
    seen->seen |= group;
    seen->group = group;
}

static uint32_t count_waiting(const struct dpu_machine *m)
{
    uint32_t waiting = 0;
    for (uint32_t id = 0; id < m->thread_count; id++)
        waiting += (m->run_bits >> id & 1) != 0 && m->threads[id].ready > m->cycles;
    return waiting;
}

/* SPAN has who took part; the rest is what has passed since. */
static void tell_span(struct dpu_machine *m, struct dpu_span *span, uint64_t cycles,
                      uint64_t rounds)
{
    span->cycles = m->cycles - cycles;
    span->rounds = m->rounds - rounds;
    for (struct dpu_observer *o = m->observers; o != NULL; o = o->next)
        if (o->passed != NULL)
            o->passed(o->context, m, span);
}

/* From the next instruction on, those that take part count N more each; see dpu_count_jump(). */
static void count_on(struct dpu_machine *m, uint64_t n, uint64_t length)
{
    for (uint32_t i = 0; i < m->runnable; i++) {
        const struct dpu_thread *t = m->order[i];
        struct dpu_count *row = dpu_counts_of(m) + t->id * (size_t)DPU_COUNTS;
        size_t next = (size_t)(t->op - m->operations);
        row[next].instructions += n;
        row[next].cycles += n * length;
    }
}

/* Jumps of tasklets that have run ahead, and what others are told of them. */
static void follow_trail(struct dpu_machine *m, uint64_t length)
{
    const struct dpu_observing *seen = &m->observing;
    const struct dpu_jump_taken *jump = seen->trail;
    for (uint32_t slot = 0; slot < m->runnable; slot++) {
        const uint32_t id = m->order[slot]->id;
        struct dpu_count *row = dpu_counts_of(m) + id * (size_t)DPU_COUNTS;
        m->slot = slot;
        for (; jump != seen->trail + seen->trail_end[slot]; jump++) {
            dpu_count_jump(row, jump->end, jump->to, length);
            if (!jump->is_told || !seen->jumps)
                continue;
            m->rounds_done = jump->round;
            dpu_observe_jump(m, id, &m->operations[jump->end - 1], jump->to);
        }
    }
}

static bool has_trail(struct dpu_machine *m)
{
    struct dpu_observing *seen = &m->observing;
    if (seen->trail == NULL)
        seen->trail = malloc(m->thread_count * (size_t)TRAIL * sizeof *seen->trail);
    return seen->trail != NULL;
}

void dpu_observed_free(struct dpu_machine *m)
{
    free(m->observing.trail);
    m->observing.trail = NULL;
}

/* Runs m->order for at most ROUNDS and accounts for it. Hooks that are told of each instruction
 * are told in the order of the pipeline. */
static void run_batch(struct dpu_machine *m, uint64_t rounds)
{
    const uint64_t length = dpu_round_cycles(m, m->runnable);
    const bool tries = m->runnable > 1 && !m->observing.each && has_trail(m);
    uint32_t faulted = 0;
    count_on(m, 1, length);

    uint64_t done = tries ? dpu_run_ahead(m, dpu_run_observed_ahead, rounds) : 0;
    if (done != 0) {
        follow_trail(m, length);
    } else {
        bool pauses = tries && m->ahead.pause < rounds;
        m->batch_rounds = pauses ? m->ahead.pause : rounds;
        faulted = m->runnable == 1 ? dpu_run_observed_single(m) : dpu_run_observed(m);
        done = m->batch_rounds;
    }

    count_on(m, UINT64_MAX, length);
    dpu_batch_account(m, done, faulted);
}

static void advance(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t ready = dpu_batch_choose(m);
    note_group(m);

    const uint64_t cycles = m->cycles, rounds = m->rounds;
    const uint64_t stopped = m->observing.seen & ~m->run_bits;
    struct dpu_span span = {
        .runnable = m->runnable, .waiting = count_waiting(m), .stopped = dpu_count_bits(stopped)};
    if (m->runnable == 0)
        m->cycles = ready < limit ? ready : limit;
    else
        run_batch(m, dpu_issue_rounds(m, dpu_batch_rounds(m, stop, limit, ready)));

    tell_span(m, &span, cycles, rounds);
}

const struct dpu_engine dpu_engine_observed = {"observed", advance};
