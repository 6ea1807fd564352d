/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/bounds.h"

#include <math.h>
#include <string.h>

#include "accelforge/search/pareto.h"

/* A tile is the outermost that is known of its variable, or 1. */
static double evaluate_unknown(const struct forge_stages *stages, const struct forge_stage *stage,
                               const struct forge_unknown *unknown, const uint32_t *tiles)
{
    double product = unknown->constant;
    for (uint32_t i = 0; i < unknown->factors.count; i++) {
        const struct forge_bound_factor *factor = &stages->factors[unknown->factors.first + i];
        uint32_t last = stage->last[factor->variable];
        double tile = last == FORGE_NONE ? 1 : tiles[last];
        for (int32_t power = factor->power; power > 0; power--)
            product *= tile;
        for (int32_t power = factor->power; power < 0; power++)
            product /= tile;
    }
    return product;
}

/* Bound of a goal, from below or above, whatever the unknown tiles. */
static double bound_goal(const struct forge_searching *s, const struct forge_stage *stage,
                         uint32_t g, const double *values, const uint32_t *tiles, bool largest)
{
    const struct forge_stage_goal *goal = &stage->goals[g];
    bool grows = s->goals->list[g].grows;
    double sum = 0;
    for (uint32_t i = goal->groups.first; i < goal->groups.first + goal->groups.count; i++) {
        bool upper = !grows && (largest ? values[i] > 0 : values[i] < 0);
        const struct forge_group *group = &stage->groups[i];
        sum += values[i] *
               evaluate_unknown(s->stages, stage, upper ? &group->most : &group->least, tiles);
    }
    return sum;
}

/* Lower bound of a goal; what is subtracted from a part is at most that part. */
static double least_of_goal(const struct forge_searching *s, const struct forge_stage *stage,
                            uint32_t g, const double *values, const uint32_t *tiles)
{
    const struct forge_stage_goal *goal = &stage->goals[g];
    if (!goal->differs)
        return bound_goal(s, stage, g, values, tiles, false);

    uint32_t end = goal->groups.first + goal->groups.count;
    memcpy(&s->net[goal->groups.first], &values[goal->groups.first],
           goal->groups.count * sizeof(double));
    for (uint32_t i = goal->groups.first; i < end; i++) {
        uint32_t above = stage->groups[i].above;
        if (above == FORGE_NONE || s->net[i] >= 0 || s->net[above] <= 0)
            continue;
        double ratio = evaluate_unknown(s->stages, stage, &stage->groups[i].ratio, tiles);
        double part = fmin(-s->net[i] * ratio, s->net[above]);
        s->net[above] -= part;
        s->net[i] += part / ratio;
    }
    return bound_goal(s, stage, g, s->net, tiles, false);
}

bool forge_bounds_may_hold(const struct forge_searching *s, const struct forge_stage *stage,
                           const double *values, const uint32_t *tiles)
{
    for (uint32_t g = 0; g < s->goals->count; g++) {
        const struct forge_goal *goal = &s->goals->list[g];
        if (!stage->goals[g].touched ||
            (goal->purpose != FORGE_FOR_FANOUT && goal->purpose != FORGE_FOR_MEMORY))
            continue;
        if (!isinf(goal->most)) {
            double low = bound_goal(s, stage, g, values, tiles, false);
            if (!forge_at_most(low, goal->most, 0) ||
                (goal->strict && forge_at_most(goal->most, low, 0)))
                return false;
        }
        if (!isinf(goal->least) && !goal->grows) {
            double high = bound_goal(s, stage, g, values, tiles, true);
            if (!forge_at_most(goal->least, high, 0) ||
                (goal->strict && forge_at_most(high, goal->least, 0)))
                return false;
        }
    }
    return true;
}

void forge_bounds_objectives(const struct forge_searching *s, const struct forge_stage *stage,
                             const double *values, const uint32_t *tiles, double *low)
{
    double energy = 0;
    double latency = 0;
    for (uint32_t g = 0; g < s->goals->count; g++) {
        enum forge_purpose purpose = s->goals->list[g].purpose;
        if (purpose != FORGE_FOR_ENERGY && purpose != FORGE_FOR_LATENCY)
            continue;
        double bound = least_of_goal(s, stage, g, values, tiles);
        if (purpose == FORGE_FOR_ENERGY)
            energy = fmax(energy, bound);
        else
            latency = fmax(latency, bound);
    }
    low[FORGE_TOTAL_LATENCY] = latency * s->instances;
    low[FORGE_TOTAL_DYNAMIC_ENERGY] = energy;
    low[FORGE_TOTAL_LEAK_ENERGY] = s->goals->leak * latency * s->instances;
    low[FORGE_TOTAL_ENERGY] = energy + low[FORGE_TOTAL_LEAK_ENERGY];
}

void forge_bounds_remove(struct forge_searching *s, const struct forge_stage *stage,
                         const double *values, const uint32_t *tiles)
{
    double low[FORGE_OBJECTIVES];
    forge_bounds_objectives(s, stage, values, tiles, low);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        s->removed[i] = fmin(s->removed[i], low[i]);
}

/* Sets s->low to what no choice of the unknown tiles is below, as a point of the front, of which
 * the objectives are known. */
static void bound_point(const struct forge_searching *s, const struct forge_stage *stage,
                        const double *values, const uint32_t *tiles, const double *objectives)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        if (s->space->wanted[i])
            s->low[count++] = objectives[i];
    for (uint32_t i = 0; i < s->tracked_count; i++) {
        double share = 0;
        for (uint32_t g = 0; g < s->goals->count; g++)
            if (s->goals->list[g].purpose == FORGE_FOR_MEMORY &&
                s->goals->list[g].level == s->tracked[i])
                share = bound_goal(s, stage, g, values, tiles, false) / s->goals->list[g].most;
        s->low[count++] = share * (1 - FORGE_ROUNDING);
    }
}

bool forge_bounds_exclude(struct forge_searching *s, const struct forge_stage *stage,
                          const double *values, const uint32_t *tiles)
{
    bool front = s->bounded && s->search->front->count > 0;
    if ((!front && !s->has_incumbents) || (s->speculative && !s->may_speculate))
        return false;
    double objectives[FORGE_OBJECTIVES];
    forge_bounds_objectives(s, stage, values, tiles, objectives);
    bool beaten = s->has_incumbents && forge_incumbents_beat(s->search->incumbents, objectives);
    if (front && !beaten) {
        bound_point(s, stage, values, tiles, objectives);
        beaten = forge_front_beats(s->search->front, s->search->fronts->width, s->low);
    }
    s->beaten = s->beaten || beaten;
    s->speculated = s->speculated || (beaten && s->speculative);
    return beaten;
}
