/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/columns.h"

#include <stdlib.h>

/* Called twice: to count, and with room to fill. */
struct writer {
    struct forge_model *model;
    uint32_t count;
    bool too_many;
};

static void add(struct writer *w, struct forge_column column)
{
    if (w->count == FORGE_MAX_RECORDS) {
        w->too_many = true;
        return;
    }
    if (w->model->columns != NULL)
        w->model->columns[w->count] = column;
    w->count++;
}

static void add_of_problem(struct writer *w)
{
    for (uint32_t i = 0; i < FORGE_TOTAL_COUNT; i++)
        add(w, (struct forge_column){FORGE_COLUMN_TOTAL, FORGE_NONE, FORGE_NONE, FORGE_NONE,
                                     FORGE_NONE, i});
    for (uint32_t m = 0; m < w->model->join.memory_count; m++)
        add(w, (struct forge_column){FORGE_COLUMN_RESERVATION, FORGE_NONE,
                                     w->model->join.memories[m].component, FORGE_NONE, FORGE_NONE,
                                     FORGE_NONE});
    for (uint32_t i = 0; i < w->model->problem.component_count; i++)
        add(w, (struct forge_column){FORGE_COLUMN_AREA, FORGE_NONE, i, FORGE_NONE, FORGE_NONE,
                                     FORGE_NONE});
    for (uint32_t i = 0; i < w->model->problem.component_count; i++)
        add(w, (struct forge_column){FORGE_COLUMN_LEAK_POWER, FORGE_NONE, i, FORGE_NONE, FORGE_NONE,
                                     FORGE_NONE});
}

/* A column about LEVEL of Einsum E. */
static void add_of_level(struct writer *w, enum forge_column_kind kind, uint32_t e, uint32_t level,
                         uint32_t tensor, uint32_t detail)
{
    const struct forge_problem *problem = &w->model->problem;
    uint32_t component = problem->levels[problem->einsums[e].levels.first + level].component;
    add(w, (struct forge_column){kind, e, component, level, tensor, detail});
}

static uint32_t shown_tensor(const struct forge_plan *plan, uint32_t s)
{
    return plan->copy ? plan->source : plan->holders[plan->shown[s]].tensor;
}

/* Read and write of each shown holder, then compute. */
static void add_accesses(struct writer *w, enum forge_column_kind kind, uint32_t e)
{
    const struct forge_plan *plan = &w->model->plans[e];
    for (uint32_t s = 0; s < plan->shown_count; s++) {
        uint32_t level = plan->holders[plan->shown[s]].level;
        add_of_level(w, kind, e, level, shown_tensor(plan, s), FORGE_READ);
        add_of_level(w, kind, e, level, shown_tensor(plan, s), FORGE_WRITE);
    }
    uint32_t leaf = w->model->problem.einsums[e].levels.count - 1;
    add_of_level(w, kind, e, leaf, FORGE_NONE, FORGE_COMPUTES);
}

static bool is_busy(const struct forge_plan *plan, uint32_t level)
{
    for (uint32_t s = 0; s < plan->shown_count; s++)
        if (plan->holders[plan->shown[s]].level == level)
            return true;
    return false;
}

static void add_of_einsum(struct writer *w, uint32_t e)
{
    const struct forge_problem *problem = &w->model->problem;
    const struct forge_einsum *einsum = &problem->einsums[e];
    const struct forge_level *levels = &problem->levels[einsum->levels.first];
    const struct forge_plan *plan = &w->model->plans[e];
    struct forge_columns_of_einsum *places = &w->model->places[e];

    places->usage_spatial = w->count;
    for (uint32_t level = 0; level < einsum->levels.count; level++)
        for (uint32_t d = 0; d < levels[level].dimensions.count && !w->too_many; d++)
            add_of_level(w, FORGE_COLUMN_USAGE_SPATIAL, e, level, FORGE_NONE, d);

    places->usage_memory = w->count;
    for (uint32_t s = 0; s < plan->shown_count; s++)
        if (!plan->holders[plan->shown[s]].toll)
            add_of_level(w, FORGE_COLUMN_USAGE_MEMORY, e, plan->holders[plan->shown[s]].level,
                         shown_tensor(plan, s), FORGE_NONE);

    places->actions = w->count;
    add_accesses(w, FORGE_COLUMN_ACTION, e);
    places->energies = w->count;
    add_accesses(w, FORGE_COLUMN_ENERGY, e);

    places->leaks = w->count;
    for (uint32_t i = 0; i < einsum->leaks.count && !w->too_many; i++)
        add(w, (struct forge_column){FORGE_COLUMN_ENERGY, e,
                                     problem->leaks[einsum->leaks.first + i].component, FORGE_NONE,
                                     FORGE_NONE, FORGE_LEAKS});

    places->latencies = w->count;
    for (uint32_t level = 0; level < einsum->levels.count; level++)
        if (is_busy(plan, level) || level == einsum->levels.count - 1)
            add_of_level(w, FORGE_COLUMN_LATENCY, e, level, FORGE_NONE, FORGE_NONE);

    places->latency = w->count;
    add(w, (struct forge_column){FORGE_COLUMN_LATENCY_EINSUM, e, FORGE_NONE, FORGE_NONE, FORGE_NONE,
                                 FORGE_NONE});
}

static void add_all(struct writer *w)
{
    w->count = 0;
    add_of_problem(w);
    for (uint32_t e = 0; e < w->model->plan_count && !w->too_many; e++)
        add_of_einsum(w, e);
}

enum forge_status forge_columns_build(struct forge_model *model)
{
    model->places = calloc(model->plan_count, sizeof *model->places);
    if (model->places == NULL)
        return FORGE_OUT_OF_MEMORY;

    struct writer w = {.model = model};
    add_all(&w);
    if (w.too_many)
        return FORGE_TOO_LARGE;

    model->columns = calloc(w.count, sizeof *model->columns);
    if (model->columns == NULL)
        return FORGE_OUT_OF_MEMORY;
    add_all(&w);
    model->column_count = w.count;
    return FORGE_OK;
}
