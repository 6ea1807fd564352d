/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/problem.h"

#include <math.h>

#include "accelforge/model/formula.h"

bool forge_number_fits(enum forge_number kind, double x)
{
    switch (kind) {
#define X(name, lower, inclusive, infinite) \
    case FORGE_##name: \
        return ((inclusive) ? x >= (lower) : x > (lower)) && ((infinite) || x < INFINITY);
        FORGE_NUMBERS(X)
#undef X
    case FORGE_NUMBER_COUNT: break;
    }
    return false;
}

static bool span_within(struct forge_span span, size_t count)
{
    return span.first <= count && span.count <= count - span.first;
}

static bool value_is(const struct forge_problem *problem, uint32_t value, enum forge_number kind)
{
    return value < problem->value_count && problem->numbers[value] == kind;
}

static bool optional_value_is(const struct forge_problem *problem, uint32_t value,
                              enum forge_number kind)
{
    return value == FORGE_NONE || value_is(problem, value, kind);
}

static bool indices_below(const struct forge_problem *problem, struct forge_span span,
                          uint32_t bound)
{
    if (!span_within(span, problem->index_count))
        return false;

    for (uint32_t i = 0; i < span.count; i++)
        if (problem->indices[span.first + i] >= bound)
            return false;
    return true;
}

static enum forge_status check_values(const struct forge_problem *problem,
                                      struct forge_fault *fault)
{
    if (problem->value_count > FORGE_MAX_RECORDS)
        return FORGE_TOO_LARGE;

    for (size_t i = 0; i < problem->value_count; i++) {
        if (problem->numbers[i] >= FORGE_NUMBER_COUNT)
            return FORGE_BAD_STRUCTURE;
        if (!forge_number_fits((enum forge_number)problem->numbers[i], problem->values[i])) {
            fault->value = (uint32_t)i;
            return FORGE_BAD_NUMBER;
        }
    }
    return FORGE_OK;
}

static enum forge_status check_sizes(const struct forge_problem *problem)
{
#define X(record, table) \
    if (problem->record##_count > FORGE_MAX_RECORDS) \
        return FORGE_TOO_LARGE;
    FORGE_TABLES(X)
#undef X
    if (problem->index_count > FORGE_MAX_RECORDS || problem->tensor_ids > FORGE_MAX_RECORDS)
        return FORGE_TOO_LARGE;
    if (problem->einsum_count > FORGE_MAX_EINSUMS)
        return FORGE_TOO_LARGE;
    return problem->einsum_count == 0 ? FORGE_BAD_STRUCTURE : FORGE_OK;
}

static enum forge_status check_components(const struct forge_problem *problem)
{
    for (size_t i = 0; i < problem->component_count; i++) {
        const struct forge_component *component = &problem->components[i];
        if (!value_is(problem, component->area, FORGE_AMOUNT) ||
            !value_is(problem, component->leak_power, FORGE_AMOUNT) ||
            !value_is(problem, component->instances, FORGE_POSITIVE))
            return FORGE_BAD_INDEX;
    }
    return FORGE_OK;
}

static enum forge_status check_tensor(const struct forge_problem *problem,
                                      const struct forge_einsum *einsum,
                                      const struct forge_tensor *tensor)
{
    if (tensor->id >= problem->tensor_ids || !span_within(tensor->ranks, problem->rank_count))
        return FORGE_BAD_INDEX;

    for (uint32_t r = 0; r < tensor->ranks.count; r++) {
        const struct forge_rank *rank = &problem->ranks[tensor->ranks.first + r];
        if (!span_within(rank->terms, problem->term_count) ||
            !optional_value_is(problem, rank->constant, FORGE_ANY))
            return FORGE_BAD_INDEX;

        for (uint32_t t = 0; t < rank->terms.count; t++) {
            const struct forge_term *term = &problem->terms[rank->terms.first + t];
            if (term->variable >= einsum->variables.count ||
                !value_is(problem, term->coefficient, FORGE_ANY))
                return FORGE_BAD_INDEX;
        }
    }
    return FORGE_OK;
}

static bool optional_action(const struct forge_level *level, uint32_t action)
{
    return action == FORGE_NONE || action < level->actions.count;
}

static enum forge_status check_level(const struct forge_problem *problem,
                                     const struct forge_einsum *einsum,
                                     const struct forge_level *level)
{
    if (level->kind > FORGE_CONTAINER)
        return FORGE_BAD_STRUCTURE;
    if (level->component >= problem->component_count ||
        !value_is(problem, level->size, FORGE_CAPACITY) ||
        !value_is(problem, level->actions_scale, FORGE_AMOUNT) ||
        !span_within(level->actions, problem->action_count) ||
        !span_within(level->formula, problem->token_count) ||
        !span_within(level->dimensions, problem->dimension_count) ||
        !span_within(level->holdings, problem->holding_count) ||
        !optional_action(level, level->read) || !optional_action(level, level->write) ||
        !optional_action(level, level->compute))
        return FORGE_BAD_INDEX;

    for (uint32_t i = 0; i < level->actions.count; i++) {
        const struct forge_action *action = &problem->actions[level->actions.first + i];
        if (!value_is(problem, action->energy, FORGE_AMOUNT) ||
            !value_is(problem, action->throughput, FORGE_RATE))
            return FORGE_BAD_INDEX;
    }

    for (uint32_t i = 0; i < level->dimensions.count; i++) {
        const struct forge_dimension *dimension = &problem->dimensions[level->dimensions.first + i];
        if (!value_is(problem, dimension->fanout, FORGE_POSITIVE) ||
            !value_is(problem, dimension->usage_scale, FORGE_AMOUNT) ||
            !indices_below(problem, dimension->reuse, einsum->tensors.count))
            return FORGE_BAD_INDEX;
    }

    for (uint32_t i = 0; i < level->holdings.count; i++) {
        const struct forge_holding *holding = &problem->holdings[level->holdings.first + i];
        if (holding->tensor >= einsum->tensors.count ||
            !value_is(problem, holding->bits, FORGE_AMOUNT) ||
            !value_is(problem, holding->reads, FORGE_RATE) ||
            !value_is(problem, holding->writes, FORGE_RATE))
            return FORGE_BAD_INDEX;
    }
    return forge_formula_check(problem, level);
}

static enum forge_status check_leak(const struct forge_problem *problem,
                                    const struct forge_einsum *einsum,
                                    const struct forge_leak *leak)
{
    if (leak->component >= problem->component_count ||
        !optional_value_is(problem, leak->power, FORGE_AMOUNT) ||
        !value_is(problem, leak->share, FORGE_AMOUNT) ||
        !span_within(leak->gates, problem->gate_count))
        return FORGE_BAD_INDEX;

    for (uint32_t i = 0; i < leak->gates.count; i++) {
        const struct forge_gate *gate = &problem->gates[leak->gates.first + i];
        if (gate->level >= einsum->levels.count)
            return FORGE_BAD_INDEX;
        const struct forge_level *level = &problem->levels[einsum->levels.first + gate->level];
        if (gate->dimension >= level->dimensions.count)
            return FORGE_BAD_INDEX;
    }
    return FORGE_OK;
}

static enum forge_status check_loop(const struct forge_problem *problem,
                                    const struct forge_einsum *einsum,
                                    const struct forge_step *step)
{
    if (step->variable >= einsum->variables.count ||
        !value_is(problem, step->tile, FORGE_POSITIVE) ||
        !optional_value_is(problem, step->initial, FORGE_POSITIVE))
        return FORGE_BAD_INDEX;
    if (step->kind == FORGE_TEMPORAL)
        return FORGE_OK;

    if (step->level >= einsum->levels.count)
        return FORGE_BAD_INDEX;
    const struct forge_level *level = &problem->levels[einsum->levels.first + step->level];
    return step->dimension < level->dimensions.count ? FORGE_OK : FORGE_BAD_INDEX;
}

static enum forge_status check_step(const struct forge_problem *problem,
                                    const struct forge_einsum *einsum,
                                    const struct forge_step *step, bool last)
{
    if (step->kind > FORGE_LEAF || (step->kind == FORGE_LEAF) != last)
        return FORGE_BAD_STRUCTURE;
    if (step->kind == FORGE_TEMPORAL || step->kind == FORGE_SPATIAL)
        return check_loop(problem, einsum, step);

    if (step->level >= einsum->levels.count)
        return FORGE_BAD_INDEX;
    const struct forge_level *level = &problem->levels[einsum->levels.first + step->level];
    if (step->kind == FORGE_LEAF)
        return step->level == einsum->levels.count - 1 && level->kind == FORGE_COMPUTE
                   ? FORGE_OK
                   : FORGE_BAD_STRUCTURE;

    if (level->kind != FORGE_MEMORY && level->kind != FORGE_TOLL)
        return FORGE_NOT_A_HOLDER;
    return indices_below(problem, step->tensors, einsum->tensors.count) ? FORGE_OK
                                                                        : FORGE_BAD_INDEX;
}

/* Checks PART of the records that SPAN selects from TABLE. */
#define CHECK_EACH(table, span, call) \
    for (uint32_t i = 0; i < (span).count; i++) { \
        const __typeof__(*problem->table) *record = &problem->table[(span).first + i]; \
        enum forge_status status = (call); \
        if (status != FORGE_OK) \
            return status; \
    }

static enum forge_status check_einsum(const struct forge_problem *problem,
                                      const struct forge_einsum *einsum)
{
    if (!value_is(problem, einsum->n_instances, FORGE_POSITIVE) ||
        !span_within(einsum->variables, problem->variable_count) ||
        !span_within(einsum->tensors, problem->tensor_count) ||
        !span_within(einsum->levels, problem->level_count) ||
        !span_within(einsum->leaks, problem->leak_count) ||
        !span_within(einsum->steps, problem->step_count))
        return FORGE_BAD_INDEX;
    if (einsum->steps.count > FORGE_MAX_STEPS || einsum->tensors.count > FORGE_MAX_TENSORS ||
        einsum->levels.count > FORGE_MAX_STEPS || einsum->variables.count > FORGE_MAX_STEPS)
        return FORGE_TOO_LARGE;
    if (einsum->steps.count == 0 || einsum->levels.count == 0 || einsum->tensors.count == 0)
        return FORGE_BAD_STRUCTURE;

    CHECK_EACH(variables, einsum->variables,
               value_is(problem, record->bound, FORGE_BOUND) ? FORGE_OK : FORGE_BAD_INDEX)
    CHECK_EACH(tensors, einsum->tensors, check_tensor(problem, einsum, record))
    CHECK_EACH(levels, einsum->levels, check_level(problem, einsum, record))
    CHECK_EACH(leaks, einsum->leaks, check_leak(problem, einsum, record))
    CHECK_EACH(steps, einsum->steps,
               check_step(problem, einsum, record, i == einsum->steps.count - 1))
    return FORGE_OK;
}

static enum forge_status check_all(const struct forge_problem *problem, struct forge_fault *fault)
{
    enum forge_status status = check_sizes(problem);
    if (status == FORGE_OK)
        status = check_values(problem, fault);
    if (status == FORGE_OK)
        status = check_components(problem);
    if (status != FORGE_OK)
        return status;
    if (!value_is(problem, problem->n_instances, FORGE_POSITIVE))
        return FORGE_BAD_INDEX;

    for (size_t e = 0; e < problem->einsum_count; e++) {
        status = check_einsum(problem, &problem->einsums[e]);
        if (status != FORGE_OK) {
            fault->einsum = (uint32_t)e;
            return status;
        }
    }
    return FORGE_OK;
}

enum forge_status forge_problem_check(const struct forge_problem *problem,
                                      struct forge_fault *fault)
{
    *fault = forge_fault_of(FORGE_OK);
    fault->status = check_all(problem, fault);
    return fault->status;
}
