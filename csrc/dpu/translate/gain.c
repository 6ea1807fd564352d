/* SPDX-License-Identifier: BSD-3-Clause */
#include "gain.h"

#include "runner.h"

/* The time of fewer says nothing. */
#define INSTRUCTIONS_LEAST 10000
/* Together must take at most 15 of 16 parts of the time. */
#define GAIN_LEAST 16
/* Slices together before that is refused: the first ones find cold memory and code. But there are
 * no more after one that took twice the time. */
#define TRIALS 4
/* Refusals after which there are so many again. */
#define TRIED_AGAIN 1024

/* 1/16 picosecond an instruction; 0 if there are too few. */
static uint64_t cost_of(uint64_t instructions, uint64_t picoseconds)
{
    return instructions < INSTRUCTIONS_LEAST ? 0 : picoseconds * 16 / instructions + 1;
}

static void note(_Atomic uint64_t *cost, uint64_t found)
{
    uint64_t old = atomic_load_explicit(cost, memory_order_relaxed);
    if (found != 0)
        atomic_store_explicit(cost, old == 0 ? found : (3 * old + found) / 4, memory_order_relaxed);
}

static struct dpu_record *record_of(const struct dpu_machine *m)
{
    return m->program != NULL ? dpu_record_of(m->program) : NULL;
}

void dpu_gain_note_alone(struct dpu_machine *m, uint64_t instructions, uint64_t ns)
{
    struct dpu_record *record = record_of(m);
    if (record != NULL && atomic_load(&record->code) != NULL)
        note(&record->alone, cost_of(instructions, 1000 * ns));
}

/* A call takes about the same time whether all lanes are in use or some. The best trial counts. */
void dpu_gain_note_together(struct dpu_machine *m, uint32_t count, uint32_t lanes,
                            uint64_t instructions, uint64_t ns)
{
    struct dpu_record *record = record_of(m);
    if (record == NULL)
        return;

    uint64_t found = cost_of(instructions, 1000 * ns * count / lanes);
    uint64_t old = atomic_load_explicit(&record->together, memory_order_relaxed);
    atomic_fetch_add_explicit(&record->lanes_executed, instructions, memory_order_relaxed);
    if (found != 0 && found < old)
        atomic_store_explicit(&record->together, found, memory_order_relaxed);
    else
        note(&record->together, found);
}

static bool is_faster(const struct dpu_record *record, uint32_t count, uint32_t lanes)
{
    uint64_t alone = atomic_load_explicit(&record->alone, memory_order_relaxed);
    uint64_t together = atomic_load_explicit(&record->together, memory_order_relaxed);
    return together != 0 && together * lanes / count < alone - alone / GAIN_LEAST;
}

bool dpu_gain_is_sure(struct dpu_machine *m)
{
    const struct dpu_record *record = record_of(m);
    return record != NULL && is_faster(record, 1, 1);
}

bool dpu_gain_is_known(struct dpu_machine *m)
{
    const struct dpu_record *record = record_of(m);
    return record != NULL && atomic_load_explicit(&record->alone, memory_order_relaxed) != 0;
}

/* The first one is not accompanied by others. */
static bool begins_trial(struct dpu_record *record)
{
    uint32_t trials = atomic_load(&record->trials);
    uint64_t together = atomic_load_explicit(&record->together, memory_order_relaxed);
    uint64_t alone = atomic_load_explicit(&record->alone, memory_order_relaxed);
    bool may = trials == 0 || (trials < TRIALS && together != 0 && together < 2 * alone);
    return may && atomic_compare_exchange_strong(&record->trials, &trials, trials + 1);
}

bool dpu_gain_is_worth(struct dpu_machine *m, uint32_t count, uint32_t lanes)
{
    struct dpu_record *record = record_of(m);
    if (record == NULL || count < 2 ||
        atomic_load_explicit(&record->alone, memory_order_relaxed) == 0)
        return false;
    if (is_faster(record, count, lanes))
        return true;

    if (count >= lanes / 2 && begins_trial(record))
        return true;
    if (atomic_fetch_add_explicit(&record->refused, 1, memory_order_relaxed) % TRIED_AGAIN ==
        TRIED_AGAIN - 1)
        atomic_store(&record->trials, 0);
    return false;
}
