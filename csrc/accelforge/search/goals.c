/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/goals.h"

#include <math.h>
#include <string.h>

#include "accelforge/search/latencies.h"
#include "accelforge/search/traffic.h"

static const struct forge_polynomial nothing = {NULL, NULL, 0, 0};

/* --- goals --- */

static struct forge_goal *add_goal(struct forge_making *m, enum forge_purpose purpose)
{
    struct forge_goals *goals = m->goals;
    if (goals->count == goals->room) {
        uint32_t room = 2 * goals->room + 16;
        struct forge_goal *list = forge_arena_take(m->ring->arena, room, sizeof *list);
        if (list == NULL) {
            m->ring->failed = true;
            return NULL;
        }
        if (goals->count > 0)
            memcpy(list, goals->list, goals->count * sizeof *list);
        goals->list = list;
        goals->room = room;
    }
    struct forge_goal *goal = &goals->list[goals->count++];
    *goal = (struct forge_goal){
        .purpose = purpose, .small = true, .most = INFINITY, .least = -INFINITY};
    return goal;
}

static void add_cost(struct forge_making *m, const struct forge_polynomial *polynomial, bool exact)
{
    struct forge_goal *goal = polynomial->count > 0 ? add_goal(m, FORGE_FOR_COST) : NULL;
    if (goal == NULL)
        return;
    goal->polynomial = *polynomial;
    goal->large = exact;
}

static double energy_of(const struct forge_making *m, const struct forge_level *level,
                        uint32_t action)
{
    if (action == FORGE_NONE)
        return 0;
    return forge_making_value(m, m->space->problem.actions[level->actions.first + action].energy);
}

static void add_energy(struct forge_making *m)
{
    struct forge_polynomial sum = nothing;
    for (uint32_t h = 0; h < m->plan->holder_count; h++) {
        const struct forge_level *level = forge_space_level(m->space, m->plan->holders[h].level);
        double factor = forge_making_value(m, level->actions_scale) * m->instances;
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
            forge_scale(m, &computes, &m->means[l]);
        forge_polynomial_add(m->ring, &sum, &computes, NULL,
                             forge_making_value(m, leaf->actions_scale) * m->instances *
                                 energy_of(m, leaf, leaf->compute));
    }
    struct forge_goal *goal = m->plan->copy ? NULL : add_goal(m, FORGE_FOR_ENERGY);
    if (goal != NULL)
        goal->polynomial = sum;
}

/* --- latency --- */

/* The calls of one instance, per action of level L. */
static bool count_calls(struct forge_making *m, uint32_t l, struct forge_polynomial *calls)
{
    const struct forge_level *level = forge_space_level(m->space, l);
    double factor = forge_making_value(m, level->actions_scale);
    bool busy = level->kind == FORGE_COMPUTE;
    if (busy && level->compute != FORGE_NONE && !m->plan->copy) {
        struct forge_polynomial steps = forge_polynomial_of(m->ring, factor);
        for (uint32_t i = 0; i < m->plan->loop_count; i++)
            if (!m->plan->loops[i].spatial)
                forge_scale(m, &steps, &m->means[i]);
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

static void add_latency(struct forge_making *m, uint32_t l)
{
    const struct forge_level *level = forge_space_level(m->space, l);
    struct forge_polynomial *calls =
        forge_arena_take(m->ring->arena, level->actions.count, sizeof *calls);
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

/* --- fan-outs and limits --- */

/* The instances that the loops of a dimension use; false if it has none. */
static bool count_instances(struct forge_making *m, uint32_t level, uint32_t dimension,
                            struct forge_polynomial *instances)
{
    bool found = false;
    *instances = forge_polynomial_of(m->ring, 1);
    for (uint32_t l = 0; l < m->plan->loop_count; l++) {
        const struct forge_loop *loop = &m->plan->loops[l];
        if (!loop->spatial || loop->level != level || loop->dimension != dimension)
            continue;
        forge_scale(m, instances, &m->means[l]);
        found = true;
    }
    return found;
}

/* A scale above 1 says that each iteration uses more than one instance. One iteration is always
 * allowed. */
static void add_fanouts(struct forge_making *m)
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
            const struct forge_dimension *dimension =
                &m->space->problem.dimensions[level->dimensions.first + d];
            goal->polynomial = instances;
            goal->passes = true;
            goal->most = fmax(1, forge_making_value(m, dimension->fanout) /
                                     fmax(forge_making_value(m, dimension->usage_scale), 1));
        }
    }
}

/* The best use of a fan-out is not an aim of copies. */
static void add_usages(struct forge_making *m)
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
                             forge_making_value(m, dimension->usage_scale) /
                                 forge_making_value(m, dimension->fanout));
        goal->small = false;
        goal->large = true;
        goal->least = m->space->numbers[usage->value];
    }
}

static void add_bound(struct forge_making *m, const struct forge_limit *limit,
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

static void add_limits(struct forge_making *m)
{
    for (uint32_t i = 0; i < m->template->limit_count; i++) {
        const struct forge_limit *limit = &m->template->limits[i];
        struct forge_monomial product = forge_monomial_one(m->ring);
        for (uint32_t k = 0; k < limit->loop_count && !m->ring->failed; k++) {
            struct forge_monomial number = forge_monomial_one(m->ring);
            if (m->ring->failed)
                return;
            if (limit->of_tiles)
                forge_times_tile(m, &number, limit->loops[k], 1);
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

/* --- memories --- */

static bool is_tracked(const struct forge_making *m, uint32_t level)
{
    return m->space->usage || m->space->tracked[level];
}

/* Sums what memory L holds below DEPTH fused loops and above; false if deeper ones hold the same.
 */
static bool sum_reservations(struct forge_making *m, uint32_t l, uint32_t depth,
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

static void add_memory(struct forge_making *m, uint32_t l)
{
    double size = forge_making_value(m, forge_space_level(m->space, l)->size);
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

/* --- leaks --- */

/* The power that leaks all the time counts by latency; gates by the fan-outs that they close. */
static bool add_leaks(struct forge_making *m)
{
    const struct forge_problem *problem = &m->space->problem;
    const struct forge_einsum *einsum = forge_space_einsum(m->space);
    bool leaks = false;
    for (uint32_t i = 0; i < einsum->leaks.count; i++) {
        const struct forge_leak *leak = &problem->leaks[einsum->leaks.first + i];
        const struct forge_component *component = &problem->components[leak->component];
        double power = leak->power != FORGE_NONE ? forge_making_value(m, leak->power)
                                                 : forge_making_value(m, component->leak_power) *
                                                       forge_making_value(m, component->instances);
        if (!(power * forge_making_value(m, leak->share) > 0))
            continue;
        leaks = true;
        if (leak->gates.count == 0)
            m->goals->leak += power * forge_making_value(m, leak->share);
        for (uint32_t g = 0; g < leak->gates.count; g++) {
            const struct forge_gate *gate = &problem->gates[leak->gates.first + g];
            struct forge_polynomial instances;
            if (count_instances(m, gate->level, gate->dimension, &instances))
                add_cost(m, &instances, false);
        }
    }
    return leaks;
}

/* --- all goals --- */

static bool allocate(struct forge_making *m)
{
    struct forge_arena *arena = m->ring->arena;
    uint32_t holders = m->plan->holder_count;
    m->means = forge_arena_take(arena, m->plan->loop_count, sizeof *m->means);
    m->wholes = forge_arena_take(arena, m->plan->loop_count, sizeof *m->wholes);
    m->reads = forge_arena_take(arena, holders, sizeof *m->reads);
    m->writes = forge_arena_take(arena, holders, sizeof *m->writes);
    m->unit_reads = forge_arena_take(arena, holders, sizeof *m->unit_reads);
    m->unit_writes = forge_arena_take(arena, holders, sizeof *m->unit_writes);
    m->reserved = forge_arena_take(arena, holders, sizeof *m->reserved);
    m->goals->symbol_of_loop =
        forge_arena_take(arena, m->plan->loop_count, sizeof *m->goals->symbol_of_loop);
    m->goals->fixed = forge_arena_take(arena, m->plan->loop_count, sizeof *m->goals->fixed);
    return m->means != NULL && m->wholes != NULL && m->reads != NULL && m->writes != NULL &&
           m->unit_reads != NULL && m->unit_writes != NULL && m->reserved != NULL &&
           m->goals->symbol_of_loop != NULL && m->goals->fixed != NULL;
}

static void add_goals(struct forge_making *m)
{
    for (uint32_t t = 0; t < m->plan->path_count; t++)
        if (m->plan->paths[t].holders.count > 0)
            forge_traffic_count(m, &m->plan->paths[t]);

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
    memset(goals, 0, sizeof *goals);
    goals->ring.arena = arena;
    const struct forge_space *space = templates->facts.space;
    struct forge_making m = {
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
    enum forge_status status = forge_symbols_number(&m);
    if (status != FORGE_OK)
        return status;
    if (!forge_symbols_iterations(&m))
        return FORGE_OUT_OF_MEMORY;

    add_goals(&m);
    return goals->ring.failed ? FORGE_OUT_OF_MEMORY : FORGE_OK;
}
