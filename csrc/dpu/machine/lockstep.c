/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockstep.h"

#include "drift.h"
#include "engine.h"
#include "execute.h"
#include "interpreters.h"
#include "lockstep_state.h"
#include "program.h"
#include "snapshot.h"

#include <stdlib.h>

/* Instructions that are interpreted if a block is too long for the budget. */
#define SPAN_MOST 48

/* The way of one tasklet in each lane. */
struct step {
    uint32_t done[DPU_LOCKSTEP_MOST]; /* instructions */
    bool at_event[DPU_LOCKSTEP_MOST];
};

static void leave(struct dpu_lockstep *s, uint32_t i)
{
    s->here &= ~(1u << i);
}

/* --- windows --- */

/* True if the next window of a lane can begin; else it is to go on without the others. */
static bool can_begin(struct dpu_lockstep *s, struct dpu_lane *lane)
{
    struct dpu_machine *m = lane->m;
    s->is_cut |= atomic_load_explicit(&m->interrupt, memory_order_relaxed) != 0;
    return !s->is_cut && dpu_run_goes_on(m, lane->stop, lane->limit) &&
           dpu_drift_window_end(m, lane->stop, lane->limit) != m->rounds && dpu_drift_can(m);
}

static void begin_window(struct dpu_lane *lane, const struct dpu_in_step *in_step)
{
    struct dpu_window *w = &lane->window;
    w->m = lane->m;
    w->run = NULL;
    w->end = dpu_drift_window_end(lane->m, lane->stop, lane->limit);
    w->limit = lane->limit;
    w->fault = DPU_NEVER;
    w->in_step = in_step;
    dpu_window_begin(w);
}

/* One window for all, if they have come together. */
static bool begin_in_step(struct dpu_lockstep *s)
{
    uint32_t stale = 0;
    for (uint32_t left = s->here; left != 0; left &= left - 1)
        if (dpu_drift_needs_snapshot(s->lanes[dpu_first_thread(left)].m))
            stale |= left & -left;
    if (stale != 0)
        dpu_lanes_copy_out(s, stale);
    for (uint32_t left = s->here; left != 0; left &= left - 1)
        if (!can_begin(s, &s->lanes[dpu_first_thread(left)]))
            leave(s, dpu_first_thread(left));
    if (s->here == 0)
        return false;

    s->leader = dpu_first_thread(s->here);
    if (!dpu_in_step_begins(s))
        return false;

    for (uint32_t left = s->here; left != 0; left &= left - 1)
        s->lanes[dpu_first_thread(left)].m->lane_is_in_step = true;
    begin_window(&s->lanes[s->leader], &s->in_step);
    return true;
}

static void leave_by_fault(struct dpu_lockstep *s, uint32_t i)
{
    struct dpu_lane *lane = &s->lanes[i];
    lane->m->lane = NULL;
    dpu_drift_repeat_to_fault(lane->m, lane->stop, lane->limit);
    leave(s, i);
}

/* --- running tasklets --- */

/* The tasklet of a lane that is the first to be run: those before would have run before it. */
static uint32_t first_asked(const struct dpu_lane *lane)
{
    return dpu_first_thread(lane->window.asked);
}

static uint32_t pc_of(const struct dpu_lane *lane, uint32_t id)
{
    return dpu_pc(lane->m, lane->m->threads[id].op);
}

/* Tasklet ID of a window has executed COUNT instructions. */
static void note_run(struct dpu_window *w, uint32_t id, uint32_t count, bool at_event)
{
    w->asked_round[id] += count;
    w->asked_budget[id] -= count;
    if (!at_event && w->asked_budget[id] != 0)
        return;
    w->asked &= ~(UINT64_C(1) << id);
    dpu_window_put(w, id, w->asked_round[id]);
}

static void interpret(struct dpu_lockstep *s, uint32_t i, uint32_t id, uint32_t most,
                      struct step *step)
{
    struct dpu_machine *m = s->lanes[i].m;
    uint32_t done = dpu_run_lane(m, &m->threads[id], most);
    step->done[i] += done;
    step->at_event[i] = done < most;
}

/* All instructions of these kinds are events. */
static bool is_event(const struct dpu_operation *op)
{
    uint32_t code = __atomic_load_n(&op->code, __ATOMIC_ACQUIRE);
    return code == DPU_CODE_ACQUIRE || code == DPU_CODE_RELEASE ||
           (code == DPU_CODE_THREAD_ANY && op->kind != DPU_OP_SWAPD);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void note_miss(const struct dpu_lanes_code *code, uint32_t pc, uint32_t count)
{
    atomic_store_explicit(&code->missed_at[pc], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(code->missed, count, memory_order_relaxed);
}

/* After a call: code may have stopped where it cannot go on. */
static void finish_call(struct dpu_lockstep *s, uint32_t i, uint32_t id,
                        const struct dpu_lanes_call *call, uint32_t budget, struct step *step)
{
    struct dpu_machine *m = s->lanes[i].m;
    struct dpu_thread *t = &m->threads[id];
    uint32_t pc = call->pc[i], left = call->budget[i], span = s->code->spans[pc];
    t->op = &m->operations[pc];
    step->done[i] = budget - left;
    step->at_event[i] = is_event(t->op);
    if (step->at_event[i] || left == 0)
        return;
    if (span == 0 && step->done[i] != 0 && left >= SPAN_MOST)
        return;

    interpret(s, i, id, smaller(left, span != 0 ? span : SPAN_MOST), step);
    if (span != 0 && left >= SPAN_MOST && step->done[i] != budget - left)
        note_miss(s->code, pc, step->done[i] - (budget - left));
}

/* Interprets tasklet ID of a lane if it cannot enter the code where it is. */
static bool interpret_up_to_entry(struct dpu_lockstep *s, uint32_t i, uint32_t id, uint32_t budget,
                                  struct step *step)
{
    uint32_t pc = pc_of(&s->lanes[i], id), span = s->code->spans[pc];
    if (span == 0)
        return false;

    step->done[i] = 0;
    interpret(s, i, id, smaller(budget, span), step);
    if (step->done[i] != 0)
        note_miss(s->code, pc, step->done[i]);
    return true;
}

/* Runs tasklet ID of some lanes; BUDGETS is by lane. */
static void run_some(struct dpu_lockstep *s, uint32_t id, uint32_t some, const uint32_t *budgets,
                     struct step *step)
{
    struct dpu_lanes_call call = {0};
    uint32_t entered = 0;
    for (uint32_t left = some; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        if (interpret_up_to_entry(s, i, id, budgets[i], step))
            continue;
        entered |= 1u << i;
        call.registers[i] = s->lanes[i].m->threads[id].r;
        call.pc[i] = pc_of(&s->lanes[i], id);
        call.budget[i] = budgets[i];
    }

    if (entered == 0)
        return;

    s->code->run(&call, s->wram, id, entered);
    for (uint32_t left = entered; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        finish_call(s, i, id, &call, budgets[i], step);
    }
}

/* --- in step --- */

static bool have_done_the_same(const struct dpu_lockstep *s, uint32_t id, const struct step *step)
{
    const struct dpu_operation *op = s->lanes[s->leader].m->threads[id].op;
    for (uint32_t left = s->here; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        if (step->done[i] != step->done[s->leader] ||
            step->at_event[i] != step->at_event[s->leader] || s->lanes[i].m->threads[id].op != op)
            return false;
    }

    return true;
}

/* False if they have gone different ways. */
static bool run_in_step(struct dpu_lockstep *s)
{
    struct dpu_window *w = &s->lanes[s->leader].window;
    uint32_t id = first_asked(&s->lanes[s->leader]), budgets[DPU_LOCKSTEP_MOST];
    struct step step;
    for (uint32_t i = 0; i < s->count; i++)
        budgets[i] = w->asked_budget[id];

    run_some(s, id, s->here, budgets, &step);
    if (have_done_the_same(s, id, &step)) {
        note_run(w, id, step.done[s->leader], step.at_event[s->leader]);
        return true;
    }

    dpu_in_step_part(s);
    for (uint32_t left = s->here; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        note_run(&s->lanes[i].window, id, step.done[i], step.at_event[i]);
    }

    return false;
}

/* Up to the end of the window, or to where they go different ways. True at the end. */
static bool go_in_step(struct dpu_lockstep *s)
{
    for (;;) {
        enum dpu_drift_ending ending = dpu_drift_go_on(&s->lanes[s->leader].window, true);
        if (ending == DPU_DRIFT_ENDED) {
            dpu_in_step_share(s);
            return true;
        }
        if (ending == DPU_DRIFT_APART) {
            dpu_in_step_part(s);
            return false;
        }
        if (!run_in_step(s))
            return false;
    }
}

/* --- each with a window of its own --- */

/* Up to the next tasklet that is to be run, or the end of the window, which is noted in ENDED. */
static void go_on(struct dpu_lockstep *s, uint32_t i, uint32_t *ended)
{
    enum dpu_drift_ending ending = dpu_drift_go_on(&s->lanes[i].window, true);
    if (ending == DPU_DRIFT_AHEAD)
        leave_by_fault(s, i);
    else if (ending != DPU_DRIFT_ASKS)
        *ended |= 1u << i;
}

/* Those of SOME whose next tasklet is the one that is most behind. */
static uint32_t choose(const struct dpu_lockstep *s, uint32_t some)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t left = some; left != 0; left &= left - 1) {
        const struct dpu_lane *lane = &s->lanes[dpu_first_thread(left)];
        uint32_t id = first_asked(lane);
        uint64_t place = DPU_PLACE(lane->window.asked_round[id], id);
        least = place < least ? place : least;
    }

    uint32_t chosen = 0;
    for (uint32_t left = some; left != 0; left &= left - 1)
        if (first_asked(&s->lanes[dpu_first_thread(left)]) == DPU_KEY_ID(least))
            chosen |= left & -left;
    return chosen;
}

static void run_chosen(struct dpu_lockstep *s, uint32_t chosen)
{
    uint32_t id = first_asked(&s->lanes[dpu_first_thread(chosen)]), budgets[DPU_LOCKSTEP_MOST];
    struct step step;
    for (uint32_t left = chosen; left != 0; left &= left - 1)
        budgets[dpu_first_thread(left)] = s->lanes[dpu_first_thread(left)].window.asked_budget[id];

    run_some(s, id, chosen, budgets, &step);
    for (uint32_t left = chosen; left != 0; left &= left - 1) {
        uint32_t i = dpu_first_thread(left);
        note_run(&s->lanes[i].window, id, step.done[i], step.at_event[i]);
    }
}

/* The windows that have begun, up to their ends. */
static void go_apart(struct dpu_lockstep *s)
{
    uint32_t ended = 0;
    for (;;) {
        for (uint32_t left = s->here & ~ended; left != 0; left &= left - 1)
            if (s->lanes[dpu_first_thread(left)].window.asked == 0)
                go_on(s, dpu_first_thread(left), &ended);

        uint32_t some = s->here & ~ended;
        if (some == 0)
            return;
        run_chosen(s, choose(s, some));
    }
}

/* --- all of it --- */

static void run_together(struct dpu_lockstep *s)
{
    while (s->here != 0) {
        if (begin_in_step(s)) {
            if (go_in_step(s))
                continue;
        } else {
            for (uint32_t left = s->here; left != 0; left &= left - 1)
                begin_window(&s->lanes[dpu_first_thread(left)], NULL);
        }

        go_apart(s);
    }
}

/* A name for reports: it cannot advance a machine alone. */
static const struct dpu_engine engine = {"lockstep", NULL};

bool dpu_lockstep_can(const struct dpu_machine *m)
{
    return m->program != NULL && !m->iram_changed && m->remote == NULL &&
           (m->options.engine == DPU_ENGINE_AUTO || m->options.engine == DPU_ENGINE_LOCKSTEP) &&
           dpu_choose_engine(m, false) == &dpu_engine_drift;
}

bool dpu_lockstep_match(const struct dpu_machine *a, const struct dpu_machine *b)
{
    return a->program == b->program && a->thread_count == b->thread_count &&
           a->wram_size == b->wram_size;
}

void dpu_lockstep_slice(struct dpu_machine *const *machines, uint32_t count, uint64_t rounds,
                        const struct dpu_lanes_code *code, struct dpu_run_result *const *results)
{
    struct dpu_lockstep *s = malloc(sizeof *s);
    uint64_t stops[DPU_LOCKSTEP_MOST], before[DPU_LOCKSTEP_MOST];
    for (uint32_t i = 0; i < count; i++) {
        stops[i] = machines[i]->rounds + dpu_run_rounds_of_slice(machines[i], rounds);
        before[i] = machines[i]->instructions;
    }

    for (uint32_t i = 0; s != NULL && i < count; i++) {
        s->lanes[i].m = machines[i];
        s->lanes[i].stop = stops[i];
        s->lanes[i].limit = dpu_run_limit(machines[i]);
        machines[i]->engine = &dpu_engine_drift;
        machines[i]->eligible = machines[i]->thread_bits;
    }

    if (s != NULL) {
        s->code = code;
        s->count = count;
        s->here = dpu_lanes_of(count);
        s->is_cut = false;
        s->in_step = dpu_in_step_events;
    }

    if (s != NULL && dpu_lanes_make(s)) {
        run_together(s);
        dpu_lanes_give_back(s);
        for (uint32_t i = 0; s->is_cut && i < count; i++)
            if (atomic_load_explicit(&machines[i]->interrupt, memory_order_relaxed) == 0)
                stops[i] = machines[i]->rounds;
    }

    free(s);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t executed = machines[i]->instructions - before[i];
        dpu_run_rest(machines[i], stops[i], executed, results[i]);
        if (machines[i]->instructions - before[i] == executed && executed != 0)
            machines[i]->engine = &engine;
    }
}
