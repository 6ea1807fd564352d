/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * observed.c: the engine of machines that are observed: turns, without running ahead, so that hooks
 * are called in the order in which the pipeline issues. It also notes who waits, and for how long.
 */
#include "observed.h"

#include "batch.h"
#include "interpreters.h"
#include "timing.h"

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

/* Who has left the group since the batch before, and who takes part again. */
static void note_group(struct dpu_machine *m)
{
    struct dpu_observing *seen = &m->observing;
    uint32_t group = 0;
    for (uint32_t i = 0; i < m->runnable; i++)
        group |= 1u << m->order[i]->id;
    if (group == seen->group)
        return;

    for (uint32_t left = seen->group & ~group; left != 0; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(left);
        bool runs = (m->run_bits >> id & 1) != 0;
        seen->since[id] = m->cycles - m->launch_cycles;
        seen->why[id] = !runs                              ? DPU_OBSERVED_SLEEP
                        : m->threads[id].ready > m->cycles ? DPU_OBSERVED_DMA
                                                           : DPU_OBSERVED_ELSE;
    }

    for (uint32_t came = group & ~seen->group & seen->seen; came != 0; came &= came - 1)
        tell_wait(m, (uint32_t)__builtin_ctz(came));
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

static void advance(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t ready = dpu_batch_choose(m);
    note_group(m);

    const uint64_t cycles = m->cycles, rounds = m->rounds;
    const uint32_t stopped = m->observing.seen & ~(uint32_t)m->run_bits;
    struct dpu_span span = {.runnable = m->runnable,
                            .waiting = count_waiting(m),
                            .stopped = (uint32_t)__builtin_popcount(stopped)};
    if (m->runnable == 0) {
        m->cycles = ready < limit ? ready : limit;
    } else {
        m->batch_rounds = dpu_batch_rounds(m, stop, limit, ready);
        uint32_t faulted = dpu_run_observed(m);
        dpu_batch_account(m, m->batch_rounds, faulted);
    }

    tell_span(m, &span, cycles, rounds);
}

const struct dpu_engine dpu_engine_observed = {"observed", advance};
