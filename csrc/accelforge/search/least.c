/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/template.h"

#include <math.h>
#include <string.h>

/* Part by which a bound is less, as it is rounded in another way than costs are. */
#define ROUNDING 1e-9

/* The number of times that an Einsum computes, and of instances that do it at once at most. */
struct work {
    double computes;
    double instances;
};

/* Values that a holder hands out and takes in. */
struct passing {
    double reads;
    double writes;
};

static double value_of(const struct forge_facts *facts, uint32_t value)
{
    return facts->space->problem.values[value];
}

static double bound_of(const struct forge_facts *facts, uint32_t variable)
{
    const struct forge_einsum *einsum = forge_space_einsum(facts->space);
    return value_of(facts,
                    facts->space->problem.variables[einsum->variables.first + variable].bound);
}

static struct work work_of(const struct forge_facts *facts)
{
    struct work work = {1, 1};
    for (uint32_t v = 0; v < facts->variable_count; v++)
        work.computes *= bound_of(facts, v);
    for (uint32_t l = 0; l < facts->level_count; l++) {
        struct forge_span dimensions = forge_space_level(facts->space, l)->dimensions;
        for (uint32_t d = dimensions.first; d < dimensions.first + dimensions.count; d++)
            work.instances *= fmax(value_of(facts, facts->space->problem.dimensions[d].fanout), 1);
    }
    return work;
}

/* --- tensors --- */

/* The largest bound of a rank's variables that are not in *USED; 0 if its tiles may be smaller than
 * any of them. */
static double rank_size(const struct forge_facts *facts, const struct forge_rank *rank,
                        uint64_t *used)
{
    const struct forge_problem *problem = &facts->space->problem;
    double largest = 1;
    uint64_t chosen = 0;
    if (rank->constant != FORGE_NONE && value_of(facts, rank->constant) < 0)
        return 0;
    for (uint32_t i = rank->terms.first; i < rank->terms.first + rank->terms.count; i++) {
        const struct forge_term *term = &problem->terms[i];
        uint64_t variable = UINT64_C(1) << term->variable;
        double coefficient = value_of(facts, term->coefficient);
        if (coefficient < 0)
            return 0;
        if (coefficient < 1 || (*used & variable) != 0 || bound_of(facts, term->variable) < largest)
            continue;
        largest = bound_of(facts, term->variable);
        chosen = variable;
    }
    *used |= chosen;
    return largest;
}

/* Values of a tensor that pass a holder at least: what the loops above it leave of a variable,
 * times their iterations, is its bound. */
static double size_of(const struct forge_facts *facts, const struct forge_tensor *tensor)
{
    double size = 1;
    uint64_t used = 0;
    for (uint32_t r = 0; r < tensor->ranks.count; r++)
        size *= rank_size(facts, &facts->space->problem.ranks[tensor->ranks.first + r], &used);
    return size;
}

/* The product of the bounds of the variables that a tensor does not have. */
static double irrelevant_iterations(const struct forge_facts *facts, uint32_t t)
{
    double product = 1;
    for (uint32_t v = 0; v < facts->variable_count; v++)
        if (((facts->direct[t] | facts->partial[t]) >> v & 1) == 0)
            product *= bound_of(facts, v);
    return product;
}

/* Exchange of the innermost holder of a tensor with the compute: values may go to many instances
 * at once, and the first read of a sum may be left out. */
static struct passing pass_compute(const struct forge_facts *facts, const struct work *work,
                                   uint32_t t, bool output)
{
    double irrelevant = irrelevant_iterations(facts, t);
    double moved = work->computes / fmin(work->instances, irrelevant);
    double sums = moved * fmax(0, 1 - work->instances / irrelevant);
    return output ? (struct passing){sums, moved} : (struct passing){moved, 0};
}

/* --- levels --- */

static const struct forge_holding *holding_of(const struct forge_facts *facts, uint32_t level,
                                              uint32_t tensor)
{
    const struct forge_problem *problem = &facts->space->problem;
    struct forge_span holdings = forge_space_level(facts->space, level)->holdings;
    for (uint32_t i = holdings.first; i < holdings.first + holdings.count; i++)
        if (problem->holdings[i].tensor == tensor)
            return &problem->holdings[i];
    return NULL;
}

/* Adds what calls of an action cost: energy, and seconds if one instance made all of them. */
static void add_calls(const struct forge_facts *facts, const struct forge_level *level,
                      uint32_t action, double calls, double *energy, double *seconds)
{
    if (action == FORGE_NONE || !(calls > 0))
        return;
    const struct forge_action *record =
        &facts->space->problem.actions[level->actions.first + action];
    calls *= value_of(facts, level->actions_scale);
    *energy += calls * value_of(facts, record->energy);
    *seconds += calls / value_of(facts, record->throughput);
}

/* The memory that holds the tensor of node I next below, or FORGE_NONE. */
static uint32_t next_holder(const struct forge_template *template, uint32_t i)
{
    for (uint32_t n = i + 1; n < template->node_count; n++)
        if (template->nodes[n].kind == FORGE_NODE_HOLD && !template->nodes[n].toll &&
            template->nodes[n].tensor == template->nodes[i].tensor)
            return n;
    return FORGE_NONE;
}

static struct passing pass_holder(const struct forge_facts *facts, const struct work *work,
                                  const struct forge_template *template, uint32_t i)
{
    const struct forge_node *node = &template->nodes[i];
    const struct forge_tensor *tensor =
        &facts->space->problem
             .tensors[forge_space_einsum(facts->space)->tensors.first + node->tensor];
    double size = size_of(facts, tensor);
    bool output = tensor->output != 0;

    /* With what is below. */
    struct passing passing = output ? (struct passing){0, size} : (struct passing){size, 0};
    if (next_holder(template, i) == FORGE_NONE)
        passing = pass_compute(facts, work, node->tensor, output);
    /* With what is above. */
    if (!node->backing && output)
        passing.reads += size;
    if (!node->backing && !output)
        passing.writes += size;
    return passing;
}

void forge_least_of_template(const struct forge_facts *facts, const struct forge_template *template,
                             double *low)
{
    memset(low, 0, FORGE_OBJECTIVES * sizeof *low);
    if (facts->copy)
        return;
    const struct forge_space *space = facts->space;
    struct work work = work_of(facts);
    double instances = value_of(facts, space->problem.n_instances) *
                       value_of(facts, forge_space_einsum(space)->n_instances);
    double energy = 0;
    double latency = 0;

    for (uint32_t l = 0; l < facts->level_count; l++) {
        const struct forge_level *level = forge_space_level(space, l);
        double seconds = 0;
        if (level->kind == FORGE_COMPUTE && l + 1 == facts->level_count)
            add_calls(facts, level, level->compute, work.computes, &energy, &seconds);
        for (uint32_t i = 0; level->kind == FORGE_MEMORY && i < template->node_count; i++) {
            const struct forge_node *node = &template->nodes[i];
            if (node->kind != FORGE_NODE_HOLD || node->level != l)
                continue;
            const struct forge_holding *holding = holding_of(facts, l, node->tensor);
            if (holding == NULL || holding->up == 0 || holding->down == 0)
                continue;
            struct passing passing = pass_holder(facts, &work, template, i);
            add_calls(facts, level, level->read, passing.reads / value_of(facts, holding->reads),
                      &energy, &seconds);
            add_calls(facts, level, level->write, passing.writes / value_of(facts, holding->writes),
                      &energy, &seconds);
        }
        if (level->formula.count == 0)
            latency = fmax(latency, seconds / work.instances);
    }

    energy *= instances * (1 - ROUNDING);
    low[FORGE_TOTAL_LATENCY] = latency * instances * (1 - ROUNDING);
    low[FORGE_TOTAL_DYNAMIC_ENERGY] = energy;
    low[FORGE_TOTAL_ENERGY] = energy;
}
