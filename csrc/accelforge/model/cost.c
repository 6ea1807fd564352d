/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/scratch.h"

#include <math.h>
#include <string.h>

#include "accelforge/model/formula.h"

/* The evaluation of one Einsum. */
struct costing {
    const struct forge_problem *problem;
    const struct forge_einsum *einsum;
    const struct forge_level *levels;
    const struct forge_plan *plan;
    const struct forge_columns_of_einsum *places;
    struct forge_scratch *scratch;
    struct forge_pace *paces;
    double *shares;
    const double *values;
    double *row;
    struct forge_fault *fault;
    double instances; /* of the workload times those of the Einsum */
};

static double value(const struct costing *c, uint32_t i)
{
    return c->values[i];
}

/* --- validity --- */

/* Each variable with more than one value has a loop that ends at single values. */
static enum forge_status check_unit_tiles(const struct costing *c)
{
    const struct forge_variable *variables = &c->problem->variables[c->einsum->variables.first];
    bool *unit = c->scratch->unit_tile;
    memset(unit, 0, c->einsum->variables.count * sizeof *unit);
    for (uint32_t l = 0; l < c->plan->loop_count; l++)
        if (c->paces[l].tile >= 1 && c->paces[l].tile <= 1)
            unit[c->plan->loops[l].variable] = true;

    for (uint32_t v = 0; v < c->einsum->variables.count; v++)
        if (!unit[v] && value(c, variables[v].bound) > 1) {
            c->fault->variable = v;
            return FORGE_NO_UNIT_TILE;
        }
    return FORGE_OK;
}

/* --- fan-outs --- */

static enum forge_status use_fanouts(const struct costing *c)
{
    double *used = c->scratch->used;
    uint32_t *bases = c->scratch->dimension_bases;
    uint32_t count = 0;
    for (uint32_t level = 0; level < c->einsum->levels.count; level++) {
        bases[level] = count;
        count += c->levels[level].dimensions.count;
    }
    for (uint32_t i = 0; i < count; i++)
        used[i] = 1;

    for (uint32_t l = 0; l < c->plan->loop_count; l++) {
        const struct forge_loop *loop = &c->plan->loops[l];
        if (loop->spatial)
            used[bases[loop->level] + loop->dimension] *= c->paces[l].mean;
    }

    double *columns = c->row + c->places->usage_spatial;
    for (uint32_t level = 0; level < c->einsum->levels.count; level++)
        for (uint32_t d = 0; d < c->levels[level].dimensions.count; d++) {
            const struct forge_dimension *dimension =
                &c->problem->dimensions[c->levels[level].dimensions.first + d];
            double fanout = value(c, dimension->fanout);
            double *use = &used[bases[level] + d];
            if (*use > fanout) {
                c->fault->level = level;
                c->fault->component = c->levels[level].component;
                c->fault->dimension = d;
                c->fault->needed = *use;
                c->fault->available = fanout;
                return FORGE_FANOUT_EXCEEDED;
            }
            *use = *use / fanout * value(c, dimension->usage_scale);
            *columns++ = *use;
        }
    return FORGE_OK;
}

/* --- memories --- */

static enum forge_status use_memories(const struct costing *c)
{
    const struct forge_plan *plan = c->plan;
    double *reserved = c->scratch->reserved;
    double *columns = c->row + c->places->usage_memory;
    memset(reserved, 0, c->einsum->levels.count * sizeof *reserved);

    for (uint32_t s = 0; s < plan->shown_count; s++) {
        uint32_t h = plan->shown[s];
        const struct forge_holder *holder = &plan->holders[h];
        if (holder->toll)
            continue;
        double bits = c->scratch->traffic[h].reserved * (holder->persistent ? c->instances : 1);
        reserved[holder->level] += bits;
        c->shares[h] = bits > 0 ? bits / value(c, c->levels[holder->level].size) : 0;
        *columns++ = c->shares[h];
    }

    for (uint32_t level = 0; level < c->einsum->levels.count; level++) {
        double size = value(c, c->levels[level].size);
        if (c->levels[level].kind != FORGE_MEMORY || reserved[level] <= size)
            continue;
        c->fault->level = level;
        c->fault->component = c->levels[level].component;
        c->fault->needed = reserved[level];
        c->fault->available = size;
        return FORGE_CAPACITY_EXCEEDED;
    }
    return FORGE_OK;
}

/* --- actions and energy --- */

static double energy_of(const struct costing *c, const struct forge_level *level, uint32_t action)
{
    if (action == FORGE_NONE)
        return 0;
    return value(c, c->problem->actions[level->actions.first + action].energy);
}

/* Sets the columns of actions and energies; the dynamic energy. */
static double cost_actions(const struct costing *c, struct forge_computes computes)
{
    const struct forge_plan *plan = c->plan;
    double *actions = c->row + c->places->actions;
    double *energies = c->row + c->places->energies;
    double sum = 0;

    for (uint32_t s = 0; s < plan->shown_count; s++) {
        const struct forge_traffic *traffic = &c->scratch->traffic[plan->shown[s]];
        const struct forge_level *level = &c->levels[plan->holders[plan->shown[s]].level];
        double scale = value(c, level->actions_scale) * c->instances;
        actions[2 * s] = traffic->reads * scale;
        actions[2 * s + 1] = traffic->writes * scale;
        energies[2 * s] = actions[2 * s] * energy_of(c, level, level->read);
        energies[2 * s + 1] = actions[2 * s + 1] * energy_of(c, level, level->write);
        sum += energies[2 * s] + energies[2 * s + 1];
    }

    const struct forge_level *leaf = &c->levels[c->einsum->levels.count - 1];
    uint32_t last = 2 * plan->shown_count;
    actions[last] = computes.total * value(c, leaf->actions_scale) * c->instances;
    energies[last] = actions[last] * energy_of(c, leaf, leaf->compute);
    return sum + energies[last];
}

/* --- latency --- */

static void gather_calls(const struct costing *c)
{
    struct forge_scratch *scratch = c->scratch;
    uint32_t count = c->einsum->levels.count;
    memset(scratch->unit_reads, 0, count * sizeof(double));
    memset(scratch->unit_writes, 0, count * sizeof(double));
    memset(scratch->busy, 0, count * sizeof(bool));

    for (uint32_t s = 0; s < c->plan->shown_count; s++) {
        uint32_t h = c->plan->shown[s];
        uint32_t level = c->plan->holders[h].level;
        scratch->unit_reads[level] += scratch->traffic[h].unit_reads;
        scratch->unit_writes[level] += scratch->traffic[h].unit_writes;
        scratch->busy[level] = true;
    }
    scratch->busy[count - 1] = true;
}

static double latency_of(const struct costing *c, uint32_t l, struct forge_computes computes)
{
    const struct forge_level *level = &c->levels[l];
    double scale = value(c, level->actions_scale);
    double *calls = c->scratch->calls;
    for (uint32_t a = 0; a < level->actions.count; a++) {
        calls[a] = 0;
        if (level->kind == FORGE_COMPUTE)
            calls[a] = a == level->compute ? computes.steps * scale : 0;
        else if (a == level->read)
            calls[a] = c->scratch->unit_reads[l] * scale;
        else if (a == level->write)
            calls[a] = c->scratch->unit_writes[l] * scale;
    }
    return forge_formula_evaluate(&c->problem->tokens[level->formula.first], level->formula.count,
                                  &c->problem->actions[level->actions.first], level->actions.count,
                                  calls, c->values);
}

/* Sets the columns of latencies; the largest. */
static double cost_latencies(const struct costing *c, struct forge_computes computes)
{
    gather_calls(c);

    double *columns = c->row + c->places->latencies;
    double largest = 0;
    for (uint32_t level = 0; level < c->einsum->levels.count; level++) {
        if (!c->scratch->busy[level])
            continue;
        double latency = latency_of(c, level, computes);
        /* Not fmax(), which drops NaN. */
        if (!(latency <= largest))
            largest = latency;
        *columns++ = latency * c->instances;
    }
    c->row[c->places->latency] = largest * c->instances;
    return largest;
}

/* --- leaks --- */

static double cost_leaks(const struct costing *c, double latency)
{
    double *columns = c->row + c->places->leaks;
    double sum = 0;
    for (uint32_t i = 0; i < c->einsum->leaks.count; i++) {
        const struct forge_leak *leak = &c->problem->leaks[c->einsum->leaks.first + i];
        const struct forge_component *component = &c->problem->components[leak->component];
        double power = leak->power != FORGE_NONE
                           ? value(c, leak->power)
                           : value(c, component->leak_power) * value(c, component->instances);

        double share = value(c, leak->share);
        for (uint32_t g = 0; g < leak->gates.count; g++) {
            const struct forge_gate *gate = &c->problem->gates[leak->gates.first + g];
            const struct forge_level *level = &c->levels[gate->level];
            const struct forge_dimension *dimension =
                &c->problem->dimensions[level->dimensions.first + gate->dimension];
            share *= c->scratch->used[c->scratch->dimension_bases[gate->level] + gate->dimension] /
                     value(c, dimension->fanout);
        }
        columns[i] = power * latency * share * c->instances;
        sum += columns[i];
    }
    return sum;
}

/* --- one Einsum --- */

enum forge_status forge_cost_einsum(const struct forge_model *model, struct forge_scratch *scratch,
                                    uint32_t e, const double *values, double *row,
                                    struct forge_fault *fault)
{
    const struct forge_problem *problem = &model->problem;
    const struct forge_einsum *einsum = &problem->einsums[e];
    const struct forge_variable *variables = &problem->variables[einsum->variables.first];
    struct costing c = {
        .problem = problem,
        .einsum = einsum,
        .levels = &problem->levels[einsum->levels.first],
        .plan = &model->plans[e],
        .places = &model->places[e],
        .scratch = scratch,
        .paces = scratch->paces + model->loop_bases[e],
        .shares = scratch->shares + model->holder_bases[e],
        .values = values,
        .row = row,
        .fault = fault,
        .instances = values[problem->n_instances] * values[einsum->n_instances],
    };
    fault->einsum = e;

    forge_set_paces(c.plan, variables, values, c.paces);
    enum forge_status status = check_unit_tiles(&c);
    if (status == FORGE_OK)
        status = use_fanouts(&c);
    if (status != FORGE_OK)
        return status;

    forge_count_traffic(c.plan, variables, problem->holdings, values, c.paces, scratch->prefixes,
                        scratch->traffic);
    status = use_memories(&c);
    if (status != FORGE_OK)
        return status;

    struct forge_computes computes = forge_count_computes(c.plan, c.paces);
    double latency = cost_latencies(&c, computes);
    row[FORGE_TOTAL_LATENCY] += latency * c.instances;
    row[FORGE_TOTAL_DYNAMIC_ENERGY] += cost_actions(&c, computes);
    row[FORGE_TOTAL_LEAK_ENERGY] += cost_leaks(&c, latency);
    return FORGE_OK;
}
