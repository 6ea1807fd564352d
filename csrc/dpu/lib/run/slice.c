/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/slice.h"

#include "common/clock.h"
#include "dpu/lib/core/task.h"
#include "dpu/machine/lockstep.h"
#include "dpu/translate/gain.h"
#include "dpu/translate/translate.h"

#include <sched.h>
#include <stdatomic.h>

/* Some milliseconds, or some tens of them with many tasklets. Then others have their turn. */
#define SLICE_ROUNDS (1 << 20)
/* The first slice is short where others may be in lockstep with this one afterwards, and so are
 * slices by which it is found out whether that is faster. */
#define FIRST_ROUNDS (1 << 16)
#define SHORT_ROUNDS (1 << 14)
#define TRIAL_ROUNDS (1 << 16)

_Static_assert(DPULIB_TOGETHER >= DPU_LOCKSTEP_MOST, "all lanes are one call");

static uint32_t engine_of(const struct dpu_t *dpu)
{
    return dpu->rank->configuration.machine.engine;
}

static bool may_be_together(const struct dpu_t *dpu)
{
    uint32_t engine = engine_of(dpu);
    return engine == DPU_ENGINE_AUTO || engine == DPU_ENGINE_LOCKSTEP;
}

/* Operations that wait for the DPU to stand still come first, or it might wait forever. */
void dpulib_take_turn(struct dpu_t *dpu)
{
    while (atomic_load_explicit(&dpu->waiting, memory_order_acquire) != 0)
        sched_yield();
    pthread_mutex_lock(&dpu->turn);
}

static uint64_t since(int64_t start)
{
    return (uint64_t)(clock_of_thread() - start);
}

static uint32_t rounds_of(const struct dpu_t *dpu)
{
    if (!may_be_together(dpu))
        return SLICE_ROUNDS;
    if (!dpu->stepping)
        return dpu_gain_is_sure(dpu->machine) ? SHORT_ROUNDS : FIRST_ROUNDS;
    return dpu_gain_is_known(dpu->machine) ? SLICE_ROUNDS : FIRST_ROUNDS;
}

enum dpu_run_status dpulib_slice(struct dpu_t *dpu)
{
    /* Short launches are not timed: that takes some hundred nanoseconds. */
    const bool is_timed = dpu->stepping && may_be_together(dpu);
    const uint64_t before = dpu->result.instructions;
    const int64_t start = is_timed ? clock_of_thread() : 0;
    enum dpu_run_status status = dpu_machine_slice(dpu->machine, rounds_of(dpu), &dpu->result);
    if (is_timed)
        dpu_gain_note_alone(dpu->machine, dpu->result.instructions - before, since(start));
    if (engine_of(dpu) != DPU_ENGINE_DRIFT)
        dpu_translate_poll(dpu->machine, false);
    return status;
}

/* --- several DPUs --- */

/* The turn of a DPU that is between two slices, if nobody else has it or waits for it. */
static bool try_turn(struct dpu_t *dpu)
{
    return atomic_load_explicit(&dpu->waiting, memory_order_acquire) == 0 &&
           pthread_mutex_trylock(&dpu->turn) == 0;
}

static uint32_t most_lanes(struct dpu_t *dpu, uint32_t share)
{
    const struct dpu_lanes_code *code =
        dpu_lockstep_can(dpu->machine) ? dpu_translate_lanes(dpu->machine, 0) : NULL;
    if (code == NULL)
        return 1;

    uint32_t most = share < code->lanes ? share : code->lanes;
    if (engine_of(dpu) == DPU_ENGINE_LOCKSTEP)
        return code->lanes;
    return dpu_gain_is_worth(dpu->machine, most, code->lanes) ? most : 1;
}

uint32_t dpulib_most_slices(struct dpu_t *dpu, uint32_t share)
{
    if (!dpu->stepping || !may_be_together(dpu) || !try_turn(dpu))
        return 1;
    uint32_t most = most_lanes(dpu, share);
    if (most == 1)
        pthread_mutex_unlock(&dpu->turn);
    return most;
}

bool dpulib_slices_match(struct dpu_t *dpu, struct dpu_t *other)
{
    if (!other->stepping || !try_turn(other))
        return false;
    bool match =
        dpu_lockstep_can(other->machine) && dpu_lockstep_match(dpu->machine, other->machine);
    if (!match)
        pthread_mutex_unlock(&other->turn);
    return match;
}

void dpulib_slice_together(struct dpu_t *const *dpus, uint32_t count, enum dpu_run_status *statuses)
{
    struct dpu_machine *machines[DPU_LOCKSTEP_MOST];
    struct dpu_run_result *results[DPU_LOCKSTEP_MOST];
    const struct dpu_lanes_code *code = dpu_translate_lanes(dpus[0]->machine, 0);
    const bool forced = engine_of(dpus[0]) == DPU_ENGINE_LOCKSTEP;
    const int64_t start = clock_of_thread();
    uint64_t before = 0, after = 0;
    for (uint32_t i = 0; i < count; i++) {
        machines[i] = dpus[i]->machine;
        results[i] = &dpus[i]->result;
        before += results[i]->instructions;
    }

    uint32_t rounds = forced || dpu_gain_is_sure(machines[0]) ? SLICE_ROUNDS : TRIAL_ROUNDS;
    dpu_lockstep_slice(machines, count, rounds, code, results);
    for (uint32_t i = 0; i < count; i++) {
        statuses[i] = (enum dpu_run_status)results[i]->status;
        after += results[i]->instructions;
    }

    dpu_gain_note_together(machines[0], count, code->lanes, after - before, since(start));
    for (uint32_t i = count; i-- > 0;)
        pthread_mutex_unlock(&dpus[i]->turn);
}
