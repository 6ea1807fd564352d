/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include "timing.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t dpu_window_rounds_before(const struct dpu_machine *m, uint64_t limit)
{
    return limit == DPU_NEVER ? DPU_NEVER
                              : (limit - m->cycles) / dpu_round_cycles(m, m->thread_count);
}

void dpu_window_run_on(struct dpu_window *w, uint32_t id, uint64_t round)
{
    uint64_t end = w->end;
    if (w->fault != DPU_NEVER)
        end = smaller(end, DPU_PLACE_ROUND(w->fault) + (id < DPU_KEY_ID(w->fault)));

    if (round < end && w->run == NULL) {
        w->asked |= UINT64_C(1) << id;
        w->asked_round[id] = round;
        w->asked_budget[id] = (uint32_t)(end - round);
        return;
    }

    if (round < end)
        round += w->run(w->m, &w->m->threads[id], (uint32_t)(end - round));
    dpu_window_put(w, id, round);
}

/* Counts the rounds of this group up to ROUND. */
static void count(struct dpu_window *w, uint64_t round)
{
    struct dpu_machine *m = w->m;
    uint64_t rounds = round - m->rounds;
    m->rounds = round;
    m->cycles += rounds * w->length;
    m->instructions += rounds * m->runnable;
}

/* Rounds of LENGTH that CYCLES take; most are few, and the host divides those more quickly. */
static uint64_t rounds_of(uint64_t cycles, uint64_t length)
{
    uint64_t whole = cycles + length - 1;
    return whole <= UINT32_MAX ? (uint32_t)whole / (uint32_t)length : whole / length;
}

/* Takes those who can issue now from those who wait for DMA. */
static inline uint64_t take_ready(struct dpu_window *w)
{
    uint64_t ready = 0;
    uint64_t end = DPU_KEY(w->m->cycles + 1, 0), key = dpu_queue_first(&w->waiting);
    if (key >= end)
        return 0;

    do {
        ready |= UINT64_C(1) << DPU_KEY_ID(key);
        dpu_queue_take(&w->waiting);
        key = dpu_queue_first(&w->waiting);
    } while (key < end);

    w->is_waiting &= ~ready;
    return ready;
}

/* Tasklets that can issue now. Those of the group can that have had no event. */
static inline uint64_t choose(struct dpu_window *w)
{
    const struct dpu_machine *m = w->m;
    uint64_t running = m->run_bits & m->thread_bits, group = w->group & ~w->standing;
    for (uint64_t left = running & ~group & ~w->is_waiting; left != 0; left &= left - 1) {
        uint32_t id = dpu_first_thread(left);
        dpu_queue_put(&w->waiting, DPU_KEY(m->threads[id].ready, id));
        w->is_waiting |= UINT64_C(1) << id;
    }

    return group | take_ready(w);
}

/* The same if nobody can issue: they wait for DMA, which takes no rounds. */
static uint64_t choose_later(struct dpu_window *w)
{
    struct dpu_machine *m = w->m;
    if (w->is_waiting == 0)
        return 0;

    uint64_t ready = DPU_KEY_VALUE(dpu_queue_first(&w->waiting));
    m->cycles = smaller(ready, w->limit);
    if (ready >= w->limit)
        return 0;
    w->end = smaller(w->end, m->rounds + smaller(w->end, dpu_window_rounds_before(m, w->limit)));
    return take_ready(w);
}

void dpu_window_regroup(struct dpu_window *w, uint64_t round)
{
    struct dpu_machine *m = w->m;
    count(w, round);
    uint64_t group = choose(w);
    if (group == 0)
        group = choose_later(w);

    uint64_t left = w->group & ~group, came = group & ~w->group;
    for (; left != 0; left &= left - 1) {
        uint32_t id = dpu_first_thread(left);
        m->threads[id].instructions += round - w->joined[id];
        m->runnable--;
    }

    uint64_t to_run = came | (group & w->standing);
    w->group = group;
    w->standing = 0;
    w->is_over = group == 0;
    for (; came != 0; came &= came - 1) {
        w->joined[dpu_first_thread(came)] = round;
        m->runnable++;
    }

    w->length = dpu_round_cycles(m, m->runnable);
    w->regroup = DPU_NEVER;
    if (w->is_waiting != 0 && group != 0) {
        uint64_t ready = DPU_KEY_VALUE(dpu_queue_first(&w->waiting));
        w->regroup = round + rounds_of(ready - m->cycles, w->length);
    }

    for (; to_run != 0; to_run &= to_run - 1) {
        uint32_t id = dpu_first_thread(to_run);
        dpu_window_run_on(w, id, round);
    }
}

void dpu_window_begin(struct dpu_window *w)
{
    struct dpu_machine *m = w->m;
    dpu_queue_clear(&w->events);
    dpu_queue_clear(&w->waiting);
    w->group = w->standing = w->spinning = w->is_waiting = w->asked = 0;
    w->is_over = false;

    uint64_t running = m->run_bits & m->thread_bits;
    w->is_alone = (running & (running - 1)) == 0;
    w->length = 0;
    m->runnable = 0;
    m->regroup = false;
    dpu_window_regroup(w, m->rounds);
}

/* The tasklets of the group have issued up to ROUND, and those of EARLY in it too. */
static void count_issued(struct dpu_window *w, uint64_t round, uint64_t early)
{
    struct dpu_machine *m = w->m;
    count(w, round);
    for (uint64_t left = w->group; left != 0; left &= left - 1) {
        uint32_t id = dpu_first_thread(left);
        m->threads[id].instructions += round - w->joined[id] + (early >> id & 1);
    }

    uint32_t issued = dpu_count_bits(early);
    m->instructions += issued;
    m->cycles += dpu_issue_cycles(m, issued);
    m->rounds_done = 0;
    m->slot = 0;
}

void dpu_window_end(struct dpu_window *w)
{
    count_issued(w, w->is_over ? w->m->rounds : w->end, 0);
}

void dpu_window_end_at_fault(struct dpu_window *w, uint32_t id, uint64_t round)
{
    count_issued(w, round, w->group & dpu_threads_up_to(id));
}
