/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/loop_counts.h"

#include <math.h>

bool forge_loop_counts_limit(const struct forge_searching *s)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    bool fused = s->search->template->fused_count > 0;
    return !isinf(knobs->max_loops) || !isinf(knobs->max_loops_minus_ranks) ||
           !isinf(knobs->max_loops_per_spatial_dimension) ||
           (fused &&
            (!isinf(knobs->max_fused_loops) || !isinf(knobs->max_fused_loops_per_rank_variable)));
}

bool forge_loop_counts_compare(const struct forge_searching *s)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    return !isinf(knobs->max_loops) || !isinf(knobs->max_loops_minus_ranks) ||
           !isinf(knobs->max_loops_per_spatial_dimension);
}

/* What is counted: of two loops, whether one counts as the other does. */
enum counted { COUNT_FUSED, COUNT_FUSED_VARIABLE, COUNT_DIMENSION, COUNT_ALL };

static bool counts(const struct forge_searching *s, enum counted kind,
                   const struct forge_loop *loop, const struct forge_loop *other, bool fused)
{
    switch (kind) {
    case COUNT_FUSED: return fused;
    case COUNT_FUSED_VARIABLE: return fused && loop->variable == other->variable;
    case COUNT_DIMENSION:
        return loop->spatial && other->spatial && loop->level == other->level &&
               loop->dimension == other->dimension;
    default: (void)s; return true;
    }
}

bool forge_loop_counts_repeats(const struct forge_searching *s, uint32_t symbol, uint32_t known,
                               const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (symbol >= known || (record->outer != FORGE_NONE && record->outer >= known))
        return false;
    uint32_t outer = record->outer == FORGE_NONE ? (uint32_t)record->bound : tiles[record->outer];
    return tiles[symbol] != outer;
}

static bool keeps_count(const struct forge_searching *s, const struct forge_plan *plan,
                        enum counted kind, double most, uint32_t last, uint32_t known,
                        const uint32_t *tiles)
{
    if (isinf(most))
        return true;
    const struct forge_loop *loop = &plan->loops[s->goals->symbols[last].loop];
    uint32_t count = 0;
    for (uint32_t i = 0; i < known; i++) {
        const struct forge_symbol *record = &s->goals->symbols[i];
        if (counts(s, kind, &plan->loops[record->loop], loop, record->fused) &&
            forge_loop_counts_repeats(s, i, known, tiles))
            count++;
    }
    return count <= most;
}

/* Loops whose tile must be 1 have no symbol, and are not counted. */
bool forge_loop_counts_hold(const struct forge_searching *s, const struct forge_plan *plan,
                            uint32_t known, const uint32_t *tiles)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    uint32_t last = known - 1;
    double ranks = s->search->templates->facts.variable_count;
    double all = fmin(knobs->max_loops, knobs->max_loops_minus_ranks + ranks);
    if (!keeps_count(s, plan, COUNT_ALL, all, last, known, tiles) ||
        !keeps_count(s, plan, COUNT_DIMENSION, knobs->max_loops_per_spatial_dimension, last, known,
                     tiles))
        return false;
    if (s->search->template->fused_count == 0)
        return true;
    return keeps_count(s, plan, COUNT_FUSED, knobs->max_fused_loops, last, known, tiles) &&
           keeps_count(s, plan, COUNT_FUSED_VARIABLE, knobs->max_fused_loops_per_rank_variable,
                       last, known, tiles);
}

bool forge_loop_counts_must(const struct forge_searching *s, uint32_t symbol, const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (record->repeats && record->outer == FORGE_NONE && tiles[symbol] >= record->bound)
        return false;
    return record->inner == FORGE_NONE || !s->goals->symbols[record->inner].repeats ||
           tiles[record->inner] != tiles[symbol];
}
