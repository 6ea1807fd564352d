/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/goals.h"

#include <math.h>
#include <string.h>

#include "accelforge/search/latencies.h"

/* What is needed while goals are made. */
struct making {
    struct forge_goals *goals;
    struct forge_ring *ring;
    const struct forge_templates *templates;
    const struct forge_space *space;
    const struct forge_template *template;
    const struct forge_plan *plan;
    const bool *repeats;
    struct forge_monomial *means; /* by loop: iterations */
    struct forge_monomial *wholes;
    struct forge_polynomial *reads; /* by holder, all instances */
    struct forge_polynomial *writes;
    struct forge_polynomial *unit_reads; /* by holder, one instance */
    struct forge_polynomial *unit_writes;
    struct forge_polynomial *reserved; /* by holder, bits */
    double instances;
};

static double value(const struct making *m, uint32_t i)
{
    return m->space->problem.values[i];
}

static const struct forge_polynomial nothing = {NULL, NULL, 0, 0};

/* ------------------------------------------------------------------ symbols */

static double bound_of(const struct making *m, uint32_t variable)
{
    const struct forge_einsum *einsum = forge_space_einsum(m->space);
    return value(m, m->space->problem.variables[einsum->variables.first + variable].bound);
}

/* Whether VARIABLE may have ragged tiles: it is an index of each tensor that has it. */
static bool may_be_ragged(const struct making *m, uint32_t variable)
{
    const struct forge_facts *facts = &m->templates->facts;
    for (uint32_t t = 0; t < facts->tensor_count; t++)
        if ((facts->partial[t] >> variable & 1) != 0)
            return false;
    const struct forge_knobs *knobs = &m->space->knobs;
    return knobs->explore_imperfect_spatial_loops > 0 ||
           knobs->explore_imperfect_temporal_loops > 0;
}

static bool loop_explores(const struct making *m, uint32_t loop)
{
    const struct forge_knobs *knobs = &m->space->knobs;
    return m->plan->loops[loop].spatial ? knobs->explore_imperfect_spatial_loops > 0
                                        : knobs->explore_imperfect_temporal_loops > 0;
}

/* What a loop may do to tiles, the tile of the next loop outwards decides. */
static bool is_ragged(const struct making *m, uint32_t loop)
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

static bool is_once(const struct making *m, uint32_t loop)
{
    return m->repeats != NULL && loop < m->template->fused_count && !m->repeats[loop];
}

static enum forge_status number_symbols(struct making *m)
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
        double bound = bound_of(m, loop->variable);
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
        if (loop->rounds_up && may_be_ragged(m, loop->variable))
            places++;
    }

    /* A loop of one iteration has the tile of the loop around it. */
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        uint32_t outer = plan->loops[l].outer;
        if (!is_once(m, l) || is_innermost(plan, l))
            continue;
        goals->symbol_of_loop[l] = outer == FORGE_NONE ? FORGE_NONE : goals->symbol_of_loop[outer];
        goals->fixed[l] = outer == FORGE_NONE ? (uint32_t)bound_of(m, plan->loops[l].variable)
                                              : goals->fixed[outer];
    }

    /* The second symbols come after all first ones. */
    uint32_t place = goals->symbol_count;
    for (uint32_t s = 0; s < goals->symbol_count; s++) {
        const struct forge_loop *loop = &plan->loops[goals->symbols[s].loop];
        if (loop->rounds_up && may_be_ragged(m, loop->variable))
            goals->symbols[s].rounded = place++;
    }
    m->ring->symbol_count = places;
    return FORGE_OK;
}

/* The extent of a tile as a factor, to the power of SIGN. */
static void times_tile(const struct making *m, struct forge_monomial *product, uint32_t loop,
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

static bool note_iterations(struct making *m)
{
    const struct forge_plan *plan = m->plan;
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        m->means[l] = forge_monomial_one(m->ring);
        m->wholes[l] = forge_monomial_one(m->ring);
        if (m->ring->failed)
            return false;

        if (plan->loops[l].outer == FORGE_NONE)
            m->means[l].coefficient = bound_of(m, plan->loops[l].variable);
        else
            times_tile(m, &m->means[l], plan->loops[l].outer, 1);
        times_tile(m, &m->means[l], l, -1);

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

/* ------------------------------------------------------------------ tiles */

static struct forge_polynomial extent_of(struct making *m, const struct forge_extent *extent)
{
    struct forge_polynomial length = nothing;
    struct forge_monomial one = forge_monomial_one(m->ring);
    if (m->ring->failed)
        return length;
    if (extent->loop == FORGE_NONE)
        one.coefficient = bound_of(m, extent->variable);
    else
        times_tile(m, &one, extent->loop, 1);
    forge_polynomial_add_term(m->ring, &length, one.exponents, one.coefficient);
    return length;
}

static struct forge_polynomial tile_of(struct making *m, struct forge_span factors)
{
    struct forge_polynomial size = forge_polynomial_of(m->ring, 1);
    for (uint32_t f = 0; f < factors.count; f++) {
        const struct forge_factor *factor = &m->plan->factors[factors.first + f];
        double base = factor->base;
        struct forge_polynomial rank = nothing;
        for (uint32_t i = 0; i < factor->extents.count; i++) {
            const struct forge_extent *extent = &m->plan->extents[factor->extents.first + i];
            struct forge_polynomial length = extent_of(m, extent);
            forge_polynomial_add(m->ring, &rank, &length, NULL, extent->coefficient);
            base -= extent->coefficient;
        }
        struct forge_polynomial constant = forge_polynomial_of(m->ring, base);
        forge_polynomial_add(m->ring, &rank, &constant, NULL, 1);
        forge_polynomial_multiply(m->ring, &size, &size, &rank);
    }
    return size;
}

/* ------------------------------------------------------------------ traffic */

/* As in count.c, with polynomials instead of numbers. */
struct exchange {
    struct forge_polynomial reads;
    struct forge_polynomial writes;
    struct forge_polynomial skipped;
};

static const struct forge_monomial *iterations(const struct making *m, const struct forge_hop *hop)
{
    return hop->relevance == FORGE_IRRELEVANT ? &m->wholes[hop->loop] : &m->means[hop->loop];
}

static void scale(struct making *m, struct forge_polynomial *polynomial,
                  const struct forge_monomial *factor)
{
    struct forge_polynomial result = nothing;
    forge_polynomial_add(m->ring, &result, polynomial, factor, 1);
    *polynomial = result;
}

static void lift(struct making *m, struct exchange *exchange, const struct forge_hop *hops,
                 uint32_t outer, uint32_t inner)
{
    struct forge_monomial all = forge_monomial_one(m->ring);
    struct forge_monomial skipped = forge_monomial_one(m->ring);
    for (uint32_t i = inner; i-- > outer;) {
        if (hops[i].reused)
            continue;
        forge_monomial_times(m->ring, &all, iterations(m, &hops[i]));
        if (hops[i].spatial || hops[i].relevance == FORGE_RELEVANT)
            forge_monomial_times(m->ring, &skipped, iterations(m, &hops[i]));
    }
    scale(m, &exchange->reads, &all);
    scale(m, &exchange->writes, &all);
    scale(m, &exchange->skipped, &skipped);
}

/* Products over the loops above a holder: of all temporal, spatial and relevant temporal ones. */
struct products {
    struct forge_monomial temporal;
    struct forge_monomial spatial;
    struct forge_monomial relevant;
};

static struct products multiply_out(struct making *m, const struct forge_hop *hops, uint32_t above)
{
    struct products products = {forge_monomial_one(m->ring), forge_monomial_one(m->ring),
                                forge_monomial_one(m->ring)};
    for (uint32_t i = 0; i < above; i++) {
        const struct forge_monomial *n = iterations(m, &hops[i]);
        if (hops[i].spatial) {
            forge_monomial_times(m->ring, &products.spatial, n);
            continue;
        }
        forge_monomial_times(m->ring, &products.temporal, n);
        if (hops[i].relevance == FORGE_RELEVANT)
            forge_monomial_times(m->ring, &products.relevant, n);
    }
    return products;
}

static void charge(struct making *m, uint32_t h, const struct exchange *own,
                   const struct exchange *child, const struct products *products)
{
    const struct forge_holder *holder = &m->plan->holders[h];
    const struct forge_holding *holding = &m->space->problem.holdings[holder->holding];
    double per_read = 1 / value(m, holding->reads);
    double per_write = holder->toll ? 0 : 1 / value(m, holding->writes);
    struct forge_polynomial *reads = &m->unit_reads[h];
    struct forge_polynomial *writes = &m->unit_writes[h];
    const struct forge_monomial *temporal = &products->temporal;

    if (holder->down) {
        forge_polynomial_add(m->ring, reads, &child->reads, temporal, per_read);
        forge_polynomial_add(m->ring, writes, &own->reads, temporal, per_write);
        forge_polynomial_add(m->ring, writes, &own->skipped, &products->relevant, -per_write);
        if (holder->skip_initial)
            forge_polynomial_add(m->ring, reads, &child->skipped, &products->relevant, -per_read);
    }
    if (holder->up) {
        forge_polynomial_add(m->ring, reads, &own->writes, temporal, per_read);
        forge_polynomial_add(m->ring, writes, &child->writes, temporal, per_write);
    }
    forge_polynomial_add(m->ring, &m->reads[h], reads, &products->spatial, 1);
    forge_polynomial_add(m->ring, &m->writes[h], writes, &products->spatial, 1);
}

static void count_path(struct making *m, const struct forge_path *path)
{
    const struct forge_plan *plan = m->plan;
    const struct forge_hop *hops = &plan->hops[path->hops];
    bool output = path->output;
    struct exchange child = {
        .reads = forge_polynomial_of(m->ring, plan->copy && output ? 0 : 1),
        .writes = forge_polynomial_of(m->ring, output ? 1 : 0),
        .skipped = forge_polynomial_of(m->ring, output && plan->skip_initial ? 1 : 0),
    };

    uint32_t inner = plan->loop_count;
    for (uint32_t i = path->holders.count; i-- > 0;) {
        uint32_t h = path->holders.first + i;
        const struct forge_holder *holder = &plan->holders[h];
        lift(m, &child, hops, holder->above, inner);
        inner = holder->above;

        struct exchange own = {nothing, nothing, nothing};
        if (i > 0) {
            struct forge_polynomial fills = tile_of(m, holder->tile);
            own.reads = holder->toll ? child.reads : fills;
            if (output)
                own.writes = holder->toll ? child.writes : fills;
            if (output && holder->skip_initial)
                own.skipped = holder->toll ? child.skipped : fills;
        }
        struct products products = multiply_out(m, hops, holder->above);
        charge(m, h, &own, &child, &products);
        if (!holder->toll) {
            struct forge_polynomial size = tile_of(m, holder->reserved);
            const struct forge_holding *holding = &m->space->problem.holdings[holder->holding];
            forge_polynomial_add(m->ring, &m->reserved[h], &size, NULL,
                                 value(m, holding->bits) * (holder->persistent ? m->instances : 1));
        }
        child = own;
    }
}

/* ------------------------------------------------------------------ goals */

static struct forge_goal *add_goal(struct making *m, enum forge_purpose purpose)
{
    struct forge_goals *goals = m->goals;
    if (goals->count == goals->room) {
        uint32_t room = 2 * goals->room + 16;
        struct forge_goal *list = forge_arena_take(m->ring->arena, room, sizeof(*list));
        if (list == NULL) {
            m->ring->failed = true;
            return NULL;
        }
        if (goals->count > 0)
            memcpy(list, goals->list, goals->count * sizeof(*list));
        goals->list = list;
        goals->room = room;
    }
    struct forge_goal *goal = &goals->list[goals->count++];
    *goal = (struct forge_goal){
        .purpose = purpose, .small = true, .most = INFINITY, .least = -INFINITY};
    return goal;
}

static void add_cost(struct making *m, const struct forge_polynomial *polynomial, bool exact)
{
    struct forge_goal *goal = polynomial->count > 0 ? add_goal(m, FORGE_FOR_COST) : NULL;
    if (goal == NULL)
        return;
    goal->polynomial = *polynomial;
    goal->large = exact;
}

static double energy_of(const struct making *m, const struct forge_level *level, uint32_t action)
{
    if (action == FORGE_NONE)
        return 0;
    return value(m, m->space->problem.actions[level->actions.first + action].energy);
}

static void add_energy(struct making *m)
{
    struct forge_polynomial sum = nothing;
    for (uint32_t h = 0; h < m->plan->holder_count; h++) {
        const struct forge_level *level = forge_space_level(m->space, m->plan->holders[h].level);
        double factor = value(m, level->actions_scale) * m->instances;
        /* The tensors of a copy move at most what each of them would. */
        if (m->plan->copy) {
            add_cost(m, &m->reads[h], false);
            add_cost(m, &m->writes[h], false);
            continue;
        }
        forge_polynomial_add(m->ring, &sum, &m->reads[h], NULL,
                             factor * energy_of(m, level, level->read));
        forge_polynomial_add(m->ring, &sum, &m->writes[h], NULL,
                             factor * energy_of(m, level, level->write));
    }
    if (!m->plan->copy) {
        const struct forge_level *leaf =
            forge_space_level(m->space, m->templates->facts.level_count - 1);
        struct forge_polynomial computes = forge_polynomial_of(m->ring, 1);
        for (uint32_t l = 0; l < m->plan->loop_count; l++)
            scale(m, &computes, &m->means[l]);
        forge_polynomial_add(m->ring, &sum, &computes, NULL,
                             value(m, leaf->actions_scale) * m->instances *
                                 energy_of(m, leaf, leaf->compute));
    }
    struct forge_goal *goal = m->plan->copy ? NULL : add_goal(m, FORGE_FOR_ENERGY);
    if (goal != NULL)
        goal->polynomial = sum;
}

/* ------------------------------------------------------------------ latency */

/* The calls of one instance, per action of level L. */
static bool count_calls(struct making *m, uint32_t l, struct forge_polynomial *calls)
{
    const struct forge_level *level = forge_space_level(m->space, l);
    double factor = value(m, level->actions_scale);
    bool busy = level->kind == FORGE_COMPUTE;
    if (busy && level->compute != FORGE_NONE && !m->plan->copy) {
        struct forge_polynomial steps = forge_polynomial_of(m->ring, factor);
        for (uint32_t i = 0; i < m->plan->loop_count; i++)
            if (!m->plan->loops[i].spatial)
                scale(m, &steps, &m->means[i]);
        calls[level->compute] = steps;
    }
    for (uint32_t h = 0; level->kind != FORGE_COMPUTE && h < m->plan->holder_count; h++) {
        if (m->plan->holders[h].level != l)
            continue;
        busy = true;
        if (level->read != FORGE_NONE)
            forge_polynomial_add(m->ring, &calls[level->read], &m->unit_reads[h], NULL, factor);
        if (level->write != FORGE_NONE)
            forge_polynomial_add(m->ring, &calls[level->write], &m->unit_writes[h], NULL, factor);
    }
    return busy;
}

static void add_latency(struct making *m, uint32_t l)
{
    const struct forge_level *level = forge_space_level(m->space, l);
    struct forge_polynomial *calls =
        forge_arena_take(m->ring->arena, level->actions.count, sizeof(*calls));
    if (calls == NULL) {
        m->ring->failed = true;
        return;
    }
    if (!count_calls(m, l, calls))
        return;

    struct forge_latency latency;
    forge_latency_make(&latency, m->ring, &m->space->problem, level, calls);
    for (uint32_t p = 0; p < latency.piece_count && !m->plan->copy; p++) {
        struct forge_goal *goal = add_goal(m, FORGE_FOR_LATENCY);
        if (goal != NULL)
            goal->polynomial = latency.pieces[p];
    }
    for (uint32_t a = 0; latency.opaque && !m->plan->copy && a < level->actions.count; a++)
        add_cost(m, &calls[a], !latency.grows);
    for (uint32_t h = 0; m->plan->copy && h < m->plan->holder_count; h++)
        if (m->plan->holders[h].level == l) {
            add_cost(m, &m->unit_reads[h], latency.opaque && !latency.grows);
            add_cost(m, &m->unit_writes[h], latency.opaque && !latency.grows);
        }
}

/* ------------------------------------------------------------------ fan-outs and limits */

/* The instances that the loops of a dimension use; false if it has none. */
static bool count_instances(struct making *m, uint32_t level, uint32_t dimension,
                            struct forge_polynomial *instances)
{
    bool found = false;
    *instances = forge_polynomial_of(m->ring, 1);
    for (uint32_t l = 0; l < m->plan->loop_count; l++) {
        const struct forge_loop *loop = &m->plan->loops[l];
        if (!loop->spatial || loop->level != level || loop->dimension != dimension)
            continue;
        scale(m, instances, &m->means[l]);
        found = true;
    }
    return found;
}

static void add_fanouts(struct making *m)
{
    for (uint32_t l = 0; l < m->templates->facts.level_count; l++) {
        const struct forge_level *level = forge_space_level(m->space, l);
        for (uint32_t d = 0; d < level->dimensions.count; d++) {
            struct forge_polynomial instances;
            if (!count_instances(m, l, d, &instances))
                continue;
            struct forge_goal *goal = add_goal(m, FORGE_FOR_FANOUT);
            if (goal == NULL)
                return;
            goal->polynomial = instances;
            goal->passes = true;
            goal->most = value(m, m->space->problem.dimensions[level->dimensions.first + d].fanout);
        }
    }
}

/* The best use of a fan-out is not an aim of copies. */
static void add_usages(struct making *m)
{
    for (uint32_t i = 0; i < m->template->usages.count && !m->plan->copy; i++) {
        const struct forge_usage *usage = &m->space->usages[m->template->usages.first + i];
        struct forge_polynomial instances;
        if (!(m->space->numbers[usage->value] > 0) ||
            !count_instances(m, usage->level, usage->dimension, &instances))
            continue;
        const struct forge_level *level = forge_space_level(m->space, usage->level);
        const struct forge_dimension *dimension =
            &m->space->problem.dimensions[level->dimensions.first + usage->dimension];
        struct forge_goal *goal = add_goal(m, FORGE_FOR_USAGE);
        if (goal == NULL)
            return;
        forge_polynomial_add(m->ring, &goal->polynomial, &instances, NULL,
                             value(m, dimension->usage_scale) / value(m, dimension->fanout));
        goal->small = false;
        goal->large = true;
        goal->least = m->space->numbers[usage->value];
    }
}

static void add_bound(struct making *m, const struct forge_limit *limit,
                      const struct forge_monomial *number)
{
    struct forge_goal *goal = add_goal(m, FORGE_FOR_FANOUT);
    if (goal == NULL)
        return;
    forge_polynomial_add_term(m->ring, &goal->polynomial, number->exponents, number->coefficient);
    goal->passes = true;
    goal->strict = limit->relation == FORGE_BELOW || limit->relation == FORGE_ABOVE;
    goal->small = limit->relation != FORGE_AT_LEAST && limit->relation != FORGE_ABOVE;
    goal->large = limit->relation != FORGE_AT_MOST && limit->relation != FORGE_BELOW;
    if (goal->small)
        goal->most = limit->value;
    if (goal->large)
        goal->least = limit->value;
}

static void add_limits(struct making *m)
{
    for (uint32_t i = 0; i < m->template->limit_count; i++) {
        const struct forge_limit *limit = &m->template->limits[i];
        struct forge_monomial product = forge_monomial_one(m->ring);
        for (uint32_t k = 0; k < limit->loop_count && !m->ring->failed; k++) {
            struct forge_monomial number = forge_monomial_one(m->ring);
            if (m->ring->failed)
                return;
            if (limit->of_tiles)
                times_tile(m, &number, limit->loops[k], 1);
            else
                forge_monomial_times(m->ring, &number, &m->means[limit->loops[k]]);
            if (!limit->product)
                add_bound(m, limit, &number);
            else
                forge_monomial_times(m->ring, &product, &number);
        }
        product.coefficient *= limit->factor;
        if (limit->product && !m->ring->failed)
            add_bound(m, limit, &product);
    }
}

/* ------------------------------------------------------------------ memories */

static bool is_tracked(const struct making *m, uint32_t level)
{
    return m->space->usage || m->space->tracked[level];
}

/* What memory L holds below DEPTH fused loops and above; false if deeper ones hold the same. */
static bool sum_reservations(struct making *m, uint32_t l, uint32_t depth,
                             struct forge_polynomial *sum)
{
    bool at_depth = false;
    *sum = nothing;
    for (uint32_t h = 0; h < m->plan->holder_count; h++) {
        const struct forge_holder *holder = &m->plan->holders[h];
        if (holder->level != l || holder->toll)
            continue;
        uint32_t own = holder->persistent ? 0 : holder->reserved_above;
        if (own > m->template->fused_count)
            own = m->template->fused_count;
        if (own > depth)
            continue;
        at_depth = at_depth || own == depth;
        forge_polynomial_add(m->ring, sum, &m->reserved[h], NULL, 1);
    }
    return at_depth;
}

static void add_memory(struct making *m, uint32_t l)
{
    double size = value(m, forge_space_level(m->space, l)->size);
    uint32_t fused = m->template->fused_count;
    struct forge_polynomial sum;
    for (uint32_t depth = 0; depth < fused && is_tracked(m, l) && !isinf(size); depth++)
        if (sum_reservations(m, l, depth, &sum))
            add_cost(m, &sum, false);

    sum_reservations(m, l, fused, &sum);
    if (sum.count == 0 || isinf(size))
        return;
    /* A copy holds less than the sum: the engine finds out whether it fits. */
    if (m->plan->copy) {
        for (uint32_t h = 0; is_tracked(m, l) && h < m->plan->holder_count; h++)
            if (m->plan->holders[h].level == l)
                add_cost(m, &m->reserved[h], false);
        return;
    }
    struct forge_goal *goal = add_goal(m, FORGE_FOR_MEMORY);
    if (goal == NULL)
        return;
    goal->polynomial = sum;
    goal->most = size;
    goal->grows = true;
    goal->level = l;
    goal->passes = !is_tracked(m, l);
}

/* ------------------------------------------------------------------ leaks */

/* The power that leaks all the time counts by latency; gates by the fan-outs that they close. */
static bool add_leaks(struct making *m)
{
    const struct forge_problem *problem = &m->space->problem;
    const struct forge_einsum *einsum = forge_space_einsum(m->space);
    bool leaks = false;
    for (uint32_t i = 0; i < einsum->leaks.count; i++) {
        const struct forge_leak *leak = &problem->leaks[einsum->leaks.first + i];
        const struct forge_component *component = &problem->components[leak->component];
        double power = leak->power != FORGE_NONE
                           ? value(m, leak->power)
                           : value(m, component->leak_power) * value(m, component->instances);
        if (!(power * value(m, leak->share) > 0))
            continue;
        leaks = true;
        if (leak->gates.count == 0)
            m->goals->leak += power * value(m, leak->share);
        for (uint32_t g = 0; g < leak->gates.count; g++) {
            const struct forge_gate *gate = &problem->gates[leak->gates.first + g];
            struct forge_polynomial instances;
            if (count_instances(m, gate->level, gate->dimension, &instances))
                add_cost(m, &instances, false);
        }
    }
    return leaks;
}

/* ------------------------------------------------------------------ all goals */

static bool allocate(struct making *m)
{
    struct forge_arena *arena = m->ring->arena;
    uint32_t holders = m->plan->holder_count;
    m->means = forge_arena_take(arena, m->plan->loop_count, sizeof(*m->means));
    m->wholes = forge_arena_take(arena, m->plan->loop_count, sizeof(*m->wholes));
    m->reads = forge_arena_take(arena, holders, sizeof(*m->reads));
    m->writes = forge_arena_take(arena, holders, sizeof(*m->writes));
    m->unit_reads = forge_arena_take(arena, holders, sizeof(*m->unit_reads));
    m->unit_writes = forge_arena_take(arena, holders, sizeof(*m->unit_writes));
    m->reserved = forge_arena_take(arena, holders, sizeof(*m->reserved));
    m->goals->symbol_of_loop =
        forge_arena_take(arena, m->plan->loop_count, sizeof(*m->goals->symbol_of_loop));
    m->goals->fixed = forge_arena_take(arena, m->plan->loop_count, sizeof(*m->goals->fixed));
    return m->means != NULL && m->wholes != NULL && m->reads != NULL && m->writes != NULL &&
           m->unit_reads != NULL && m->unit_writes != NULL && m->reserved != NULL &&
           m->goals->symbol_of_loop != NULL && m->goals->fixed != NULL;
}

static void add_goals(struct making *m)
{
    for (uint32_t t = 0; t < m->plan->path_count; t++)
        if (m->plan->paths[t].holders.count > 0)
            count_path(m, &m->plan->paths[t]);

    add_fanouts(m);
    add_limits(m);
    add_usages(m);
    for (uint32_t l = 0; l < m->templates->facts.level_count; l++)
        if (forge_space_level(m->space, l)->kind == FORGE_MEMORY)
            add_memory(m, l);

    const bool *wanted = m->space->wanted;
    if (wanted[FORGE_TOTAL_ENERGY] || wanted[FORGE_TOTAL_DYNAMIC_ENERGY])
        add_energy(m);
    bool timed = (wanted[FORGE_TOTAL_ENERGY] || wanted[FORGE_TOTAL_LEAK_ENERGY]) && add_leaks(m);
    timed = timed || wanted[FORGE_TOTAL_LATENCY];
    for (uint32_t l = 0; timed && l < m->templates->facts.level_count; l++)
        add_latency(m, l);
}

enum forge_status forge_goals_make(struct forge_goals *goals, struct forge_arena *arena,
                                   const struct forge_templates *templates,
                                   const struct forge_template *template,
                                   const struct forge_model *model, const bool *repeats)
{
    memset(goals, 0, sizeof(*goals));
    goals->ring.arena = arena;
    const struct forge_space *space = templates->facts.space;
    struct making m = {
        .goals = goals,
        .ring = &goals->ring,
        .templates = templates,
        .space = space,
        .template = template,
        .plan = &model->plans[0],
        .repeats = repeats,
        .instances = space->problem.values[space->problem.n_instances] *
                     space->problem.values[forge_space_einsum(space)->n_instances],
    };
    if (!allocate(&m))
        return FORGE_OUT_OF_MEMORY;
    enum forge_status status = number_symbols(&m);
    if (status != FORGE_OK)
        return status;
    if (!note_iterations(&m))
        return FORGE_OUT_OF_MEMORY;

    add_goals(&m);
    return goals->ring.failed ? FORGE_OUT_OF_MEMORY : FORGE_OK;
}

bool forge_goals_is_free(const struct forge_space *space, const struct forge_plan *plan, uint32_t l)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    uint32_t variable = plan->loops[l].variable;
    uint32_t bound = space->problem.variables[einsum->variables.first + variable].bound;
    return space->problem.values[bound] > 1 && !is_innermost(plan, l);
}
