/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/symbols.h"

/* True if VARIABLE may have ragged tiles: it is an index of each tensor that has it. */
static bool may_be_ragged(const struct forge_making *m, uint32_t variable)
{
    const struct forge_facts *facts = &m->templates->facts;
    for (uint32_t t = 0; t < facts->tensor_count; t++)
        if ((facts->partial[t] >> variable & 1) != 0)
            return false;
    const struct forge_settings *settings = &m->space->settings;
    return settings->explore_imperfect_spatial_loops > 0 ||
           settings->explore_imperfect_temporal_loops > 0;
}

static bool loop_explores(const struct forge_making *m, uint32_t loop)
{
    const struct forge_settings *settings = &m->space->settings;
    return m->plan->loops[loop].spatial ? settings->explore_imperfect_spatial_loops > 0
                                        : settings->explore_imperfect_temporal_loops > 0;
}

/* The tile of the next loop outwards decides what a loop may do to tiles. */
static bool is_ragged(const struct forge_making *m, uint32_t loop)
{
    const struct forge_plan *plan = m->plan;
    uint32_t variable = plan->loops[loop].variable;
    if (!may_be_ragged(m, variable))
        return false;
    if (plan->loops[loop].outer == FORGE_NONE && loop_explores(m, loop))
        return true;
    for (uint32_t l = loop + 1; l < plan->loop_count; l++)
        if (plan->loops[l].variable == variable)
            return loop_explores(m, l);
    return false;
}

static bool is_innermost(const struct forge_plan *plan, uint32_t loop)
{
    for (uint32_t l = loop + 1; l < plan->loop_count; l++)
        if (plan->loops[l].variable == plan->loops[loop].variable)
            return false;
    return true;
}

static bool is_once(const struct forge_making *m, uint32_t loop)
{
    return m->repeats != NULL && loop < m->template->fused_count && !m->repeats[loop];
}

enum forge_status forge_symbols_number(struct forge_making *m)
{
    struct forge_goals *goals = m->goals;
    const struct forge_plan *plan = m->plan;
    uint32_t inner[FORGE_MAX_MEMBERS];
    for (uint32_t v = 0; v < FORGE_MAX_MEMBERS; v++)
        inner[v] = FORGE_NONE;

    uint32_t places = 0;
    for (uint32_t l = plan->loop_count; l-- > 0;) {
        const struct forge_loop *loop = &plan->loops[l];
        goals->symbol_of_loop[l] = FORGE_NONE;
        goals->fixed[l] = 1;
        double bound = forge_bound_of(m, loop->variable);
        if (bound <= 1 || is_innermost(plan, l) || is_once(m, l))
            continue;
        if (goals->symbol_count == FORGE_MAX_SYMBOLS)
            return FORGE_TOO_LARGE;

        uint32_t s = goals->symbol_count++;
        goals->symbol_of_loop[l] = s;
        goals->symbols[s] = (struct forge_symbol){
            .loop = l,
            .variable = loop->variable,
            .inner = inner[loop->variable],
            .outer = FORGE_NONE,
            .bound = bound,
            .fused = l < m->template->fused_count,
            .repeats = m->repeats != NULL && l < m->template->fused_count,
            .ragged = is_ragged(m, l),
            .rounded = FORGE_NONE,
        };
        if (inner[loop->variable] != FORGE_NONE)
            goals->symbols[inner[loop->variable]].outer = s;
        inner[loop->variable] = s;
        places++;
        if (loop->outer == FORGE_NONE && may_be_ragged(m, loop->variable))
            places++;
    }

    /* A loop of one iteration has the tile of the loop around it. */
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        uint32_t outer = plan->loops[l].outer;
        if (!is_once(m, l) || is_innermost(plan, l))
            continue;
        goals->symbol_of_loop[l] = outer == FORGE_NONE ? FORGE_NONE : goals->symbol_of_loop[outer];
        goals->fixed[l] = outer == FORGE_NONE ? (uint32_t)forge_bound_of(m, plan->loops[l].variable)
                                              : goals->fixed[outer];
    }

    /* The second symbols come after all first ones. */
    uint32_t place = goals->symbol_count;
    for (uint32_t s = 0; s < goals->symbol_count; s++) {
        const struct forge_loop *loop = &plan->loops[goals->symbols[s].loop];
        if (loop->outer == FORGE_NONE && may_be_ragged(m, loop->variable))
            goals->symbols[s].rounded = place++;
    }
    m->ring->symbol_count = places;
    return FORGE_OK;
}

void forge_times_tile(const struct forge_making *m, struct forge_monomial *product, uint32_t loop,
                      int sign)
{
    uint32_t symbol = m->goals->symbol_of_loop[loop];
    if (symbol != FORGE_NONE)
        product->exponents[symbol] = (int16_t)(product->exponents[symbol] + sign);
    else if (sign > 0)
        product->coefficient *= m->goals->fixed[loop];
    else
        product->coefficient /= m->goals->fixed[loop];
}

bool forge_symbols_iterations(struct forge_making *m)
{
    const struct forge_plan *plan = m->plan;
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        m->means[l] = forge_monomial_one(m->ring);
        m->wholes[l] = forge_monomial_one(m->ring);
        if (m->ring->failed)
            return false;

        if (plan->loops[l].outer == FORGE_NONE)
            m->means[l].coefficient = forge_bound_of(m, plan->loops[l].variable);
        else
            forge_times_tile(m, &m->means[l], plan->loops[l].outer, 1);
        forge_times_tile(m, &m->means[l], l, -1);

        uint32_t symbol = m->goals->symbol_of_loop[l];
        bool own = symbol != FORGE_NONE && m->goals->symbols[symbol].loop == l;
        uint32_t rounded = own ? m->goals->symbols[symbol].rounded : FORGE_NONE;
        if (rounded != FORGE_NONE)
            m->wholes[l].exponents[rounded] = 1;
        else
            forge_monomial_times(m->ring, &m->wholes[l], &m->means[l]);
    }
    return true;
}

bool forge_symbols_is_free(const struct forge_space *space, const struct forge_plan *plan,
                           uint32_t l)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    uint32_t variable = plan->loops[l].variable;
    uint32_t bound = space->problem.variables[einsum->variables.first + variable].bound;
    return space->problem.values[bound] > 1 && !is_innermost(plan, l);
}
