/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/loop_counts.h"

#include <math.h>

bool forge_loop_counts_compare(const struct forge_searching *s)
{
    const struct forge_settings *settings = &s->space->settings;
    return !isinf(settings->max_loops) || !isinf(settings->max_loops_minus_ranks) ||
           !isinf(settings->max_loops_per_spatial_dimension);
}

bool forge_loop_counts_limit(const struct forge_searching *s)
{
    const struct forge_settings *settings = &s->space->settings;
    bool fused = s->search->template->fused_count > 0;
    return forge_loop_counts_compare(s) ||
           (fused && (!isinf(settings->max_fused_loops) ||
                      !isinf(settings->max_fused_loops_per_rank_variable)));
}

/* --- all loops --- */

/* The extent of the tiles of a loop; 0 if it is not known yet. */
static uint32_t extent_of(const struct forge_searching *s, uint32_t loop, uint32_t known,
                          const uint32_t *tiles)
{
    uint32_t symbol = s->goals->symbol_of_loop[loop];
    if (symbol == FORGE_NONE)
        return s->goals->fixed[loop];
    return symbol < known ? tiles[symbol] : 0;
}

bool forge_loop_counts_repeats(const struct forge_searching *s, const struct forge_plan *plan,
                               uint32_t loop, uint32_t known, const uint32_t *tiles)
{
    const struct forge_loop *record = &plan->loops[loop];
    const struct forge_einsum *einsum = forge_space_einsum(s->space);
    uint32_t bound = s->space->problem.variables[einsum->variables.first + record->variable].bound;
    uint32_t inside = extent_of(s, loop, known, tiles);
    uint32_t outside = record->outer == FORGE_NONE ? (uint32_t)s->space->problem.values[bound]
                                                   : extent_of(s, record->outer, known, tiles);
    return inside != 0 && outside != 0 && inside != outside;
}

/* Counts loops, those of the dimension of the loop LIKE only unless that is FORGE_NONE. */
static uint32_t count_loops(const struct forge_searching *s, const struct forge_plan *plan,
                            uint32_t like, uint32_t known, const uint32_t *tiles)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        const struct forge_loop *loop = &plan->loops[l];
        bool alike =
            like == FORGE_NONE || (loop->spatial && loop->level == plan->loops[like].level &&
                                   loop->dimension == plan->loops[like].dimension);
        if (alike && forge_loop_counts_repeats(s, plan, l, known, tiles))
            count++;
    }
    return count;
}

static bool keeps_all(const struct forge_searching *s, const struct forge_plan *plan,
                      uint32_t known, const uint32_t *tiles)
{
    const struct forge_settings *settings = &s->space->settings;
    double ranks = s->search->templates->facts.variable_count;
    double all = fmin(settings->max_loops, settings->max_loops_minus_ranks + ranks);
    if (!isinf(all) && count_loops(s, plan, FORGE_NONE, known, tiles) > all)
        return false;
    double each = settings->max_loops_per_spatial_dimension;
    for (uint32_t l = 0; !isinf(each) && l < plan->loop_count; l++)
        if (plan->loops[l].spatial && count_loops(s, plan, l, known, tiles) > each)
            return false;
    return true;
}

/* --- fused loops --- */

/* The loop of SYMBOL has more than one iteration, and that is known. */
static bool symbol_repeats(const struct forge_searching *s, uint32_t symbol, uint32_t known,
                           const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (record->outer != FORGE_NONE && record->outer >= known)
        return false;
    uint32_t outer = record->outer == FORGE_NONE ? (uint32_t)record->bound : tiles[record->outer];
    return tiles[symbol] != outer;
}

/* As in the original, a fused loop whose tile must be 1 is not counted. */
static bool keeps_fused(const struct forge_searching *s, uint32_t known, const uint32_t *tiles)
{
    const struct forge_settings *settings = &s->space->settings;
    uint32_t variable = s->goals->symbols[known - 1].variable;
    uint32_t all = 0;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < known; i++) {
        const struct forge_symbol *record = &s->goals->symbols[i];
        if (!record->fused || !symbol_repeats(s, i, known, tiles))
            continue;
        all++;
        alike += record->variable == variable;
    }
    return all <= settings->max_fused_loops && alike <= settings->max_fused_loops_per_rank_variable;
}

/* --- limits --- */

bool forge_loop_counts_hold(const struct forge_searching *s, const struct forge_plan *plan,
                            uint32_t known, const uint32_t *tiles)
{
    if (forge_loop_counts_compare(s) && !keeps_all(s, plan, known, tiles))
        return false;
    return s->search->template->fused_count == 0 || known == 0 || keeps_fused(s, known, tiles);
}

bool forge_loop_counts_must(const struct forge_searching *s, uint32_t symbol, const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (record->repeats && record->outer == FORGE_NONE && tiles[symbol] >= record->bound)
        return false;
    return record->inner == FORGE_NONE || !s->goals->symbols[record->inner].repeats ||
           tiles[record->inner] != tiles[symbol];
}
