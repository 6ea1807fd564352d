/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ahead.c: tasklets that run some rounds one after the other instead of in turns.
 *
 * The processor of the host predicts the path of one tasklet well, and that of sixteen in turns,
 * each somewhere else, not at all. As long as no tasklet uses a word of WRAM that another one
 * writes, the order makes no difference. So each runs a number of rounds alone, and each word that
 * it uses is marked. It stops before anything that others notice in other ways: DMA, locks,
 * starting and stopping, the clock, faults. If it has stopped early, those before it have gone too
 * far: all is put back as it was, and tried again with so many rounds. If words are shared, or
 * it stops at once, rounds are run in turns, and more of them each time.
 *
 * Tasklets that stay together, and those that stop often, are faster in turns. So both ways are
 * timed, the slower one for a short while now and then. What is computed does not depend on it.
 */
#include "ahead.h"
#include "ahead_marks.h"
#include "common/clock.h"

#include <string.h>

/* Instructions that are timed together, and how often the other way is tried. */
enum { PERIOD = 65536, TRIAL = 20000, TRIAL_EVERY = 64 };
enum { IN_TURNS, ALONE };
enum { LEAST = 8, FIRST_SIZE = 64, SHORTEST_PAUSE = 2, LONGEST_PAUSE = 2048 };

static void remember(struct dpu_machine *m)
{
    for (uint32_t i = 0; i < m->runnable; i++) {
        const struct dpu_thread *t = m->order[i];
        struct dpu_thread_before *before = &m->ahead.threads[i];
        memcpy(before->r, t->r, DPU_MACHINE_REGISTERS * sizeof *before->r);
        before->zero = t->zero;
        before->carry = t->carry;
        before->op = t->op;
    }
}

/* COUNT tasklets have run. */
static void put_back(struct dpu_machine *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_thread *t = m->order[i];
        const struct dpu_thread_before *before = &m->ahead.threads[i];
        memcpy(t->r, before->r, DPU_MACHINE_REGISTERS * sizeof *before->r);
        t->zero = before->zero;
        t->carry = before->carry;
        t->op = before->op;
    }

    dpu_ahead_undo(m);
}

/*
 * Runs each for *ROUNDS. False, and all is as before, if one stopped earlier: then *ROUNDS is how
 * far it came.
 */
static bool run_each(struct dpu_machine *m, dpu_ahead_runner run, uint64_t *rounds)
{
    struct dpu_ahead *a = &m->ahead;
    dpu_ahead_begin(a);
    for (uint32_t i = 0; i < m->runnable; i++) {
        a->slot = i;
        a->rounds = *rounds;
        a->mine = dpu_ahead_mark(a, m->order[i]->id);
        run(m);
        if (a->rounds == *rounds)
            continue;

        *rounds = a->rounds;
        /* If it is the first one, nobody has gone farther. */
        if (i == 0 && !a->conflict && a->rounds >= LEAST)
            continue;

        put_back(m, i + 1);
        return false;
    }

    return true;
}

static void begin_period(struct dpu_machine *m, uint32_t way, uint32_t length)
{
    struct dpu_ahead *a = &m->ahead;
    a->way = way;
    a->length = length;
    a->start_instructions = m->instructions;
    a->start_ns = (uint64_t)clock_of_thread();
    a->is_timed = true;
}

static void choose_way(struct dpu_machine *m)
{
    struct dpu_ahead *a = &m->ahead;
    if (!a->is_timed) {
        begin_period(m, a->way, a->length);
        return;
    }

    uint64_t done = m->instructions - a->start_instructions;
    if (done < a->length)
        return;

    a->picoseconds[a->way] = ((uint64_t)clock_of_thread() - a->start_ns) * 1000 / done + 1;
    uint32_t best = a->picoseconds[ALONE] <= a->picoseconds[IN_TURNS] ? ALONE : IN_TURNS;

    /* An engine that was never timed has 0, and so is the best. */
    if (a->length == TRIAL || a->picoseconds[best] == 0)
        a->periods = 0;
    if (++a->periods % TRIAL_EVERY == 0)
        begin_period(m, best == ALONE ? IN_TURNS : ALONE, TRIAL);
    else
        begin_period(m, best, PERIOD);
}

static bool has_memory(struct dpu_ahead *a)
{
    if (a->tags != NULL)
        return true;
    if (!dpu_ahead_allocate(a))
        return false;

    a->size = FIRST_SIZE;
    a->next_pause = SHORTEST_PAUSE;
    a->way = ALONE;
    a->length = TRIAL;
    return true;
}

uint64_t dpu_run_ahead(struct dpu_machine *m, dpu_ahead_runner run, uint64_t rounds)
{
    struct dpu_ahead *a = &m->ahead;
    a->pause = UINT32_MAX;
    if (rounds < LEAST || !has_memory(a))
        return 0;

    choose_way(m);
    if (a->way == IN_TURNS) {
        a->pause = a->length / m->runnable + 1;
        return 0;
    }

    if (a->is_due) {
        a->is_due = false;
        a->pause = SHORTEST_PAUSE;
        return 0;
    }

    uint64_t wanted = rounds < a->size ? rounds : a->size, tried = wanted;
    remember(m);
    while (tried >= LEAST) {
        if (run_each(m, run, &tried)) {
            if (tried == a->size)
                a->size = 2 * a->size < DPU_AHEAD_MOST ? 2 * a->size : DPU_AHEAD_MOST;
            /* The instruction that was stopped at comes now. */
            a->is_due = tried < wanted;
            a->next_pause = SHORTEST_PAUSE;
            return tried;
        }

        a->size = tried / 2 > LEAST ? (uint32_t)tried / 2 : LEAST;
        if (a->conflict)
            break;
    }

    a->pause = a->next_pause;
    a->next_pause = a->next_pause < LONGEST_PAUSE ? 2 * a->next_pause : LONGEST_PAUSE;
    return 0;
}
