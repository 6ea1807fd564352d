/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drift.c: tasklets run alone up to their next event, and events are executed in order.
 *
 * What other tasklets can notice, and what the time matters to, is an event: DMA, starting and
 * stopping, run bits, atomic bits, the clock and faults. Everything else only uses the tasklet's
 * registers and WRAM. Accesses of a program without data races are ordered by events, so that it
 * makes no difference who goes first between two of them. The host's processor predicts the
 * branches of one tasklet, but not those of sixteen in turns.
 *
 * Rounds are cut into windows (window.h) at multiples of DPU_WINDOW_MOST since the boot. Only
 * between them does a run look for interrupts, and it ends there, so that neither they nor slices
 * change what a program computes that has races.
 *
 * When a tasklet faults, others may have gone on for some of the window. Then the run is repeated
 * from its snapshot, with the same windows, up to the fault.
 */
#include "drift.h"

#include "execute.h"
#include "interpreters.h"
#include "program.h"
#include "raise.h"
#include "snapshot.h"
#include "turns.h"
#include "window.h"

/* Bit that a tasklet spins on: an atomic bit, or from here on the run bit of a tasklet. */
#define SPINS_ON_RUN_BITS DPU_MACHINE_ATOMIC_BITS

static const struct dpu_operation *execute_event(struct dpu_machine *m, struct dpu_thread *t,
                                                 const struct dpu_operation *op)
{
    switch ((enum dpu_code)op->code) {
    case DPU_CODE_THREAD_ANY:
    case DPU_CODE_ACQUIRE:
    case DPU_CODE_RELEASE: return dpu_execute_thread(m, t, op);
    case DPU_CODE_ALU_ANY: return dpu_execute_alu(m, t, op);
    case DPU_CODE_UNDECODABLE: return dpu_raise(m, t, op, DPU_FAULT_UNDECODABLE);
    default: return dpu_execute_memory(m, t, op);
    }
}

/* --- spinning: tasklets that repeat one instruction until another tasklet changes a bit --- */

/* The bit that an instruction waits for which has come back to itself; UINT32_MAX if it does not.
 */
static uint32_t awaited_bit(const struct dpu_machine *m, const struct dpu_thread *t,
                            const struct dpu_operation *op)
{
    uint32_t index = dpu_bit_index(t->r[op->a] + op->imm);
    bool was_set = t->zero != 0;
    switch ((enum dpu_operation_kind)op->kind) {
    case DPU_OP_ACQUIRE: return was_set ? index : UINT32_MAX;
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_READ_RUN:
        return was_set && index < m->thread_count ? SPINS_ON_RUN_BITS + index : UINT32_MAX;
    default: return UINT32_MAX;
    }
}

static void wake(struct dpu_window *w, uint32_t spinner, uint32_t by, uint64_t round)
{
    w->spinning &= ~(UINT64_C(1) << spinner);
    dpu_window_put(w, spinner, round + (spinner < by));
}

/* A tasklet has cleared a bit in ROUND. Of those who want an atomic bit, the first one takes it,
 * and the others have tried in vain. */
static void wake_spinners(struct dpu_window *w, uint32_t bit, uint32_t by, uint64_t round)
{
    uint64_t above = w->spinning & ~dpu_threads_up_to(by);
    uint64_t below = w->spinning & dpu_threads_before(by);
    for (uint32_t side = 0; side < 2; side++)
        for (uint64_t left = side == 0 ? above : below; left != 0; left &= left - 1) {
            uint32_t id = dpu_first_thread(left);
            if (w->spins_on[id] != bit)
                continue;
            wake(w, id, by, round);
            if (bit < SPINS_ON_RUN_BITS)
                return;
        }
}

/* --- events --- */

/* After an event that has changed who runs. False if the tasklet itself stands now. */
static bool goes_on(struct dpu_window *w, uint32_t id, uint64_t round,
                    const struct dpu_operation *op)
{
    struct dpu_machine *m = w->m;
    if (!m->regroup)
        return true;

    m->regroup = false;
    if (round + 1 < w->regroup)
        w->regroup = round + 1;
    uint64_t running = m->run_bits & m->thread_bits;
    if (w->is_alone && (running & (running - 1)) != 0 && round + 1 < w->end)
        w->end = round + 1;

    if (op->kind == DPU_OP_BOOT || op->kind == DPU_OP_RESUME)
        return true;
    w->standing |= UINT64_C(1) << id;
    return false;
}

/* False for a fault. */
static bool execute(struct dpu_window *w, uint32_t id, uint64_t round)
{
    struct dpu_machine *m = w->m;
    struct dpu_thread *t = &m->threads[id];
    const struct dpu_operation *op = t->op;
    m->rounds_done = round - m->rounds;
    if (op->code == DPU_CODE_THREAD_ANY) /* the others do not look at the time */
        m->slot = dpu_count_bits(w->group & dpu_threads_before(id));
    const struct dpu_operation *following = execute_event(m, t, op);
    if (following == NULL)
        return false;

    t->op = following;
    if (UNLIKELY(w->in_step != NULL))
        w->in_step->did(w->in_step, w, id, op);
    uint32_t bit = following == op ? awaited_bit(m, t, op) : UINT32_MAX;
    if (bit != UINT32_MAX) {
        w->spinning |= UINT64_C(1) << id;
        w->spins_on[id] = (uint16_t)bit;
        return true;
    }

    if (w->spinning != 0 && op->kind == DPU_OP_RELEASE)
        wake_spinners(w, dpu_bit_index(t->r[op->a] + op->imm), id, round);
    if (w->spinning != 0 && op->kind == DPU_OP_STOP)
        wake_spinners(w, SPINS_ON_RUN_BITS + id, id, round);
    if (goes_on(w, id, round, op))
        dpu_window_run_on(w, id, round + 1);
    return true;
}

/* --- windows --- */

/* True if a tasklet has executed what comes after an event of tasklet ID in ROUND. */
static bool is_ahead(const struct dpu_window *w, uint32_t id, uint64_t round)
{
    const struct dpu_queue *q = &w->events;
    for (uint32_t i = q->first; i != q->end; i++) {
        uint64_t place = q->keys[i % DPU_QUEUE_ROOM];
        uint32_t other = DPU_KEY_ID(place);
        if (place > DPU_PLACE(round + (other < id), other))
            return true;
    }

    return false;
}

static enum dpu_drift_ending end_in_fault(struct dpu_window *w, uint32_t id, uint64_t round,
                                          bool is_exact)
{
    if (is_exact && dpu_snapshot_is_valid(w->m) && (w->run == NULL || is_ahead(w, id, round)))
        return DPU_DRIFT_AHEAD;
    dpu_window_end_at_fault(w, id, round);
    return DPU_DRIFT_ENDED;
}

static dpu_runner runner_of(const struct dpu_machine *m)
{
    if (m->options.engine == DPU_ENGINE_DRIFT)
        return dpu_run_alone;
    const struct dpu_translation *translation =
        atomic_load_explicit(&m->program->translation, memory_order_acquire);
    return translation != NULL ? translation->run : dpu_run_alone;
}

enum dpu_drift_ending dpu_drift_go_on(struct dpu_window *w, bool is_exact)
{
    while (!w->is_over) {
        if (w->asked != 0)
            return DPU_DRIFT_ASKS;

        uint64_t place = dpu_queue_first(&w->events), round = DPU_PLACE_ROUND(place);
        uint32_t id = DPU_KEY_ID(place);
        if (w->regroup <= round && w->regroup < w->end) {
            dpu_window_regroup(w, w->regroup);
            continue;
        }

        if (place > w->fault)
            return DPU_DRIFT_MISSED;
        if (round >= w->end)
            break;
        if (UNLIKELY(w->in_step != NULL) && !w->in_step->may(w->in_step, w, id))
            return DPU_DRIFT_APART;
        dpu_queue_take(&w->events);
        if (!execute(w, id, round))
            return end_in_fault(w, id, round, is_exact);
        if (place == w->fault)
            return DPU_DRIFT_MISSED;
    }

    dpu_window_end(w);
    return w->is_over && w->fault != DPU_NEVER ? DPU_DRIFT_MISSED : DPU_DRIFT_ENDED;
}

/* Runs a window up to END, or to FAULT. IS_EXACT: a fault must not find others ahead. */
static enum dpu_drift_ending run_window(struct dpu_machine *m, uint64_t end, uint64_t limit,
                                        uint64_t fault, bool is_exact)
{
    struct dpu_window w;
    w.m = m;
    w.run = runner_of(m);
    w.end = end;
    w.limit = limit;
    w.fault = fault;
    w.in_step = NULL;
    dpu_window_begin(&w);
    return dpu_drift_go_on(&w, is_exact);
}

uint64_t dpu_drift_window_end(const struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t passed = m->rounds - m->launch_rounds;
    uint64_t rounds = DPU_WINDOW_MOST - passed % DPU_WINDOW_MOST;
    uint64_t safe = dpu_window_rounds_before(m, limit);
    rounds = rounds < safe ? rounds : safe;
    return rounds < stop - m->rounds ? m->rounds + rounds : stop;
}

/*
 * Repeats the run from its snapshot up to a fault. IS_EXACT: the others go no farther than it.
 * False if it did not happen again.
 */
static bool repeat(struct dpu_machine *m, uint64_t stop, uint64_t limit, uint64_t fault,
                   bool is_exact)
{
    dpu_snapshot_restore(m);
    for (;;) {
        uint64_t end = dpu_drift_window_end(m, stop, limit);
        if (end == m->rounds) {
            dpu_engine_turns.advance(m, stop, limit);
        } else {
            bool is_last = end > DPU_PLACE_ROUND(fault);
            uint64_t up_to = is_last && is_exact ? fault : DPU_NEVER;
            if (run_window(m, end, limit, up_to, false) == DPU_DRIFT_MISSED)
                return false;
        }

        if (m->fault.kind != DPU_FAULT_NONE)
            return true;
        if (m->rounds > DPU_PLACE_ROUND(fault) || m->cycles >= limit ||
            (m->run_bits & m->thread_bits) == 0)
            return false;
    }
}

bool dpu_drift_needs_snapshot(const struct dpu_machine *m)
{
    uint64_t running = m->run_bits & m->thread_bits;
    return (running & (running - 1)) != 0 && (!dpu_snapshot_is_valid(m) || dpu_snapshot_is_full(m));
}

bool dpu_drift_can(struct dpu_machine *m)
{
    return !dpu_drift_needs_snapshot(m) || dpu_snapshot_take(m);
}

void dpu_drift_repeat_to_fault(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t fault = DPU_PLACE(m->rounds + m->rounds_done, m->fault.thread);
    if (!repeat(m, stop, limit, fault, true))
        repeat(m, stop, limit, fault, false);
}

static void advance(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    uint64_t end = dpu_drift_window_end(m, stop, limit);
    if (end == m->rounds || !dpu_drift_can(m)) {
        dpu_engine_turns.advance(m, stop, limit);
        return;
    }

    if (run_window(m, end, limit, DPU_NEVER, true) == DPU_DRIFT_AHEAD)
        dpu_drift_repeat_to_fault(m, stop, limit);
}

const struct dpu_engine dpu_engine_drift = {"drift", advance};
