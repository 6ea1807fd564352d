/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/model/columns.h"
#include "accelforge/model/scratch.h"

/* Shares of a memory that add up to one may be above it by rounding. */
#define FULL (1 + 1e-12)

/* --- copies of the tables --- */

/* A copy of COUNT records in *TARGET; false if out of memory. */
static bool duplicate(const void *source, size_t count, size_t size, const void **target)
{
    void *copy = calloc(count > 0 ? count : 1, size);
    if (copy == NULL)
        return false;
    if (count > 0)
        memcpy(copy, source, count * size);
    *target = copy;
    return true;
}

static bool copy_problem(struct forge_problem *copy, const struct forge_problem *problem)
{
    bool done = true;
#define X(record, table) \
    copy->record##_count = problem->record##_count; \
    done = duplicate(problem->table, problem->record##_count, sizeof *problem->table, \
                     (const void **)&copy->table) && \
           done;
    FORGE_TABLES(X)
#undef X
    copy->index_count = problem->index_count;
    copy->value_count = problem->value_count;
    copy->tensor_ids = problem->tensor_ids;
    copy->n_instances = problem->n_instances;
    return duplicate(problem->indices, problem->index_count, sizeof *problem->indices,
                     (const void **)&copy->indices) &&
           duplicate(problem->values, problem->value_count, sizeof *problem->values,
                     (const void **)&copy->values) &&
           duplicate(problem->numbers, problem->value_count, sizeof *problem->numbers,
                     (const void **)&copy->numbers) &&
           done;
}

static void free_problem(struct forge_problem *copy)
{
#define X(record, table) free((void *)(uintptr_t)copy->table);
    FORGE_TABLES(X)
#undef X
    free((void *)(uintptr_t)copy->indices);
    free((void *)(uintptr_t)copy->values);
    free((void *)(uintptr_t)copy->numbers);
}

/* --- plans --- */

static void grow(uint32_t *most, uint32_t count)
{
    *most = count > *most ? count : *most;
}

/* Numbers loops and holders of all plans, and notes how much room the largest Einsum needs. */
static enum forge_status measure(struct forge_model *model, uint32_t e)
{
    const struct forge_einsum *einsum = &model->problem.einsums[e];
    const struct forge_plan *plan = &model->plans[e];
    model->holder_bases[e] = model->holder_total;
    model->loop_bases[e] = model->loop_total;
    model->holder_total += plan->holder_count;
    model->loop_total += plan->loop_count;

    uint32_t dimensions = 0;
    for (uint32_t l = 0; l < einsum->levels.count; l++) {
        const struct forge_level *level = &model->problem.levels[einsum->levels.first + l];
        dimensions += level->dimensions.count;
        if (dimensions > FORGE_MAX_RECORDS)
            return FORGE_TOO_LARGE;
        grow(&model->most_actions, level->actions.count);
    }
    grow(&model->most_loops, plan->loop_count);
    grow(&model->most_holders, plan->holder_count);
    grow(&model->most_levels, einsum->levels.count);
    grow(&model->most_dimensions, dimensions);
    grow(&model->most_variables, einsum->variables.count);
    return FORGE_OK;
}

static enum forge_status make_plans(struct forge_model *model, struct forge_fault *fault)
{
    size_t count = model->problem.einsum_count;
    model->plans = calloc(count, sizeof *model->plans);
    model->holder_bases = calloc(count, sizeof *model->holder_bases);
    model->loop_bases = calloc(count, sizeof *model->loop_bases);
    if (model->plans == NULL || model->holder_bases == NULL || model->loop_bases == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t e = 0; e < count; e++) {
        model->plan_count = e + 1;
        enum forge_status status = forge_plan_build(&model->plans[e], &model->problem, e, fault);
        if (status == FORGE_OK)
            status = measure(model, e);
        if (status != FORGE_OK)
            return status;
    }
    fault->einsum = FORGE_NONE;
    return FORGE_OK;
}

/* --- the model --- */

static enum forge_status make(struct forge_model *model, const struct forge_problem *problem,
                              struct forge_fault *fault)
{
    if (!copy_problem(&model->problem, problem))
        return FORGE_OUT_OF_MEMORY;

    enum forge_status status = make_plans(model, fault);
    if (status == FORGE_OK)
        status = forge_join_build(&model->join, &model->problem, model->plans, model->holder_bases,
                                  model->loop_bases, fault);
    if (status == FORGE_OK)
        status = forge_columns_build(model);
    return status;
}

enum forge_status forge_model_create(struct forge_model **model,
                                     const struct forge_problem *problem, struct forge_fault *fault)
{
    *model = NULL;
    enum forge_status status = forge_problem_check(problem, fault);
    if (status != FORGE_OK)
        return status;

    struct forge_model *made = calloc(1, sizeof *made);
    status = made == NULL ? FORGE_OUT_OF_MEMORY : make(made, problem, fault);
    fault->status = status;
    if (status != FORGE_OK) {
        forge_model_destroy(made);
        return status;
    }
    *model = made;
    return FORGE_OK;
}

void forge_model_destroy(struct forge_model *model)
{
    if (model == NULL)
        return;

    forge_join_clear(&model->join);
    for (uint32_t e = 0; e < model->plan_count; e++)
        forge_plan_clear(&model->plans[e]);
    free(model->plans);
    free(model->holder_bases);
    free(model->loop_bases);
    free(model->places);
    free(model->columns);
    free_problem(&model->problem);
    free(model);
}

/* --- evaluation --- */

/* Computes the memory that all Einsums together take: the reservation columns. */
static enum forge_status join_einsums(const struct forge_model *model,
                                      const struct forge_scratch *scratch, double *row,
                                      struct forge_fault *fault)
{
    const struct forge_join *join = &model->join;
    for (uint32_t p = 0; p < join->pair_count; p++) {
        const struct forge_pace *a = &scratch->paces[join->pairs[p].a];
        const struct forge_pace *b = &scratch->paces[join->pairs[p].b];
        if (a->tile < b->tile || a->tile > b->tile || ceil(a->mean) < ceil(b->mean) ||
            ceil(a->mean) > ceil(b->mean)) {
            fault->einsum = join->pairs[p].einsum;
            return FORGE_LOOPS_DIFFER;
        }
    }

    for (uint32_t m = 0; m < join->memory_count; m++) {
        uint32_t einsum = 0;
        double share = forge_join_peak(join, &join->memories[m], scratch->shares, &einsum);
        row[FORGE_TOTAL_COUNT + m] = share;
        if (share > FULL) {
            fault->einsum = einsum;
            fault->component = join->memories[m].component;
            fault->needed = share;
            fault->available = 1;
            return FORGE_JOINT_CAPACITY_EXCEEDED;
        }
    }
    return FORGE_OK;
}

static void cost_components(const struct forge_model *model, const double *values, double *row)
{
    const struct forge_problem *problem = &model->problem;
    double *areas = row + FORGE_TOTAL_COUNT + model->join.memory_count;
    double *leaks = areas + problem->component_count;
    for (size_t i = 0; i < problem->component_count; i++) {
        const struct forge_component *component = &problem->components[i];
        areas[i] = values[component->area] * values[component->instances];
        leaks[i] = values[component->leak_power] * values[component->instances];
    }
}

/* Names the largest part of a total that is not a finite number; NaN is larger than any. */
static enum forge_status overflow(const struct forge_model *model, const double *row,
                                  struct forge_fault *fault)
{
    uint32_t kind = isfinite(row[FORGE_TOTAL_LATENCY]) ? FORGE_COLUMN_ENERGY : FORGE_COLUMN_LATENCY;
    for (uint32_t i = 0; i < model->column_count && !isnan(fault->needed); i++) {
        const struct forge_column *column = &model->columns[i];
        if (column->kind != kind || row[i] <= fault->needed)
            continue;
        fault->einsum = column->einsum;
        fault->component = column->component;
        fault->tensor = column->tensor;
        fault->access = column->detail;
        fault->needed = row[i];
    }
    return FORGE_OVERFLOW;
}

static enum forge_status evaluate(const struct forge_model *model, struct forge_scratch *scratch,
                                  const double *values, double *row, struct forge_fault *fault)
{
    for (uint32_t i = 0; i < FORGE_TOTAL_COUNT; i++)
        row[i] = 0;
    for (uint32_t e = 0; e < model->plan_count; e++) {
        enum forge_status status = forge_cost_einsum(model, scratch, e, values, row, fault);
        if (status != FORGE_OK)
            return status;
    }
    fault->einsum = FORGE_NONE;
    enum forge_status status = join_einsums(model, scratch, row, fault);
    if (status != FORGE_OK)
        return status;

    cost_components(model, values, row);
    row[FORGE_TOTAL_ENERGY] = row[FORGE_TOTAL_DYNAMIC_ENERGY] + row[FORGE_TOTAL_LEAK_ENERGY];
    row[FORGE_TOTAL_ENERGY_DELAY_PRODUCT] = row[FORGE_TOTAL_ENERGY] * row[FORGE_TOTAL_LATENCY];
    return isfinite(row[FORGE_TOTAL_ENERGY]) && isfinite(row[FORGE_TOTAL_LATENCY])
               ? FORGE_OK
               : overflow(model, row, fault);
}

enum forge_status forge_model_evaluate(const struct forge_model *model,
                                       struct forge_scratch *scratch, const double *values,
                                       double *row, struct forge_fault *fault)
{
    *fault = forge_fault_of(FORGE_OK);
    fault->status =
        evaluate(model, scratch, values != NULL ? values : model->problem.values, row, fault);
    if (fault->status == FORGE_OK)
        return FORGE_OK;

    for (uint32_t i = 0; i < model->column_count; i++)
        row[i] = NAN;
    return fault->status;
}
