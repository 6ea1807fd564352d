/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/space.h"

#include <math.h>

const struct forge_einsum *forge_space_einsum(const struct forge_space *space)
{
    return &space->problem.einsums[0];
}

const struct forge_level *forge_space_level(const struct forge_space *space, uint32_t level)
{
    return &space->problem.levels[forge_space_einsum(space)->levels.first + level];
}

uint32_t forge_space_objectives(const struct forge_space *space)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        count += space->wanted[i];
    return count;
}

/* --- checks --- */

static bool fits(struct forge_span span, size_t count)
{
    return span.first <= count && span.count <= count - span.first;
}

static uint64_t members(uint32_t count)
{
    return count >= FORGE_MAX_MEMBERS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The Einsum is alone, and its mapping is nothing but its leaf. */
static enum forge_status check_einsum(const struct forge_space *space)
{
    if (space->problem.einsum_count != 1)
        return FORGE_BAD_STRUCTURE;
    const struct forge_einsum *einsum = forge_space_einsum(space);
    if (einsum->steps.count != 1 || einsum->tensors.count == 0)
        return FORGE_BAD_STRUCTURE;
    if (einsum->variables.count > FORGE_MAX_MEMBERS || einsum->tensors.count > FORGE_MAX_MEMBERS ||
        einsum->levels.count > FORGE_MAX_LEVELS)
        return FORGE_TOO_LARGE;

    /* Tiles are whole numbers. */
    for (uint32_t v = 0; v < einsum->variables.count; v++) {
        double bound =
            space->problem.values[space->problem.variables[einsum->variables.first + v].bound];
        if (bound > UINT32_MAX || floor(bound) < bound)
            return FORGE_BAD_NUMBER;
    }
    if (((space->shared | space->intermediate) & ~members(einsum->tensors.count)) != 0)
        return FORGE_BAD_INDEX;
    return FORGE_OK;
}

static bool set_fits(const struct forge_space *space, uint32_t set, uint32_t count)
{
    return set < space->set_count && (space->sets[set] & ~members(count)) == 0;
}

static bool dimension_fits(const struct forge_space *space, uint32_t level, uint32_t dimension)
{
    return level < forge_space_einsum(space)->levels.count &&
           dimension < forge_space_level(space, level)->dimensions.count;
}

static bool number_fits(const struct forge_space *space, uint32_t number)
{
    return number < space->number_count && !isnan(space->numbers[number]);
}

static enum forge_status check_keepers(const struct forge_space *space)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    for (size_t i = 0; i < space->keeper_count; i++) {
        const struct forge_keeper *keeper = &space->keepers[i];
        if (keeper->level >= einsum->levels.count || keeper->tensor >= einsum->tensors.count)
            return FORGE_BAD_INDEX;
        uint32_t kind = forge_space_level(space, keeper->level)->kind;
        if (kind != FORGE_MEMORY && kind != FORGE_TOLL)
            return FORGE_NOT_A_HOLDER;
    }
    return FORGE_OK;
}

static enum forge_status check_records(const struct forge_space *space)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    uint32_t levels = einsum->levels.count;
    uint32_t tensors = einsum->tensors.count;

    for (size_t i = 0; i < space->order_count; i++) {
        const struct forge_order *order = &space->orders[i];
        if (order->level >= levels || !fits(order->sets, space->set_count))
            return FORGE_BAD_INDEX;
        for (uint32_t s = 0; s < order->sets.count; s++)
            if (!set_fits(space, order->sets.first + s, tensors))
                return FORGE_BAD_INDEX;
    }
    for (size_t i = 0; i < space->resident_count; i++)
        if (space->residents[i].level >= levels ||
            !set_fits(space, space->residents[i].fetched, tensors) ||
            !set_fits(space, space->residents[i].sent, tensors))
            return FORGE_BAD_INDEX;
    for (size_t i = 0; i < space->comparison_count; i++) {
        const struct forge_comparison *comparison = &space->comparisons[i];
        if (comparison->level >= levels || comparison->relation > FORGE_ABOVE ||
            !number_fits(space, comparison->value) ||
            !set_fits(space, comparison->variables, einsum->variables.count))
            return FORGE_BAD_INDEX;
    }
    for (size_t i = 0; i < space->usage_count; i++)
        if (!dimension_fits(space, space->usages[i].level, space->usages[i].dimension) ||
            !number_fits(space, space->usages[i].value))
            return FORGE_BAD_INDEX;
    return FORGE_OK;
}

/* Each tensor is kept, once per component, and a placement's outermost keepers are memories. */
static enum forge_status check_placement(const struct forge_space *space,
                                         const struct forge_placement *placement,
                                         struct forge_fault *fault)
{
    if (!fits(placement->keepers, space->keeper_count) ||
        !fits(placement->orders, space->order_count) ||
        !fits(placement->residents, space->resident_count) ||
        !fits(placement->tile_bounds, space->comparison_count) ||
        !fits(placement->loop_bounds, space->comparison_count) ||
        !fits(placement->usages, space->usage_count))
        return FORGE_BAD_INDEX;
    for (uint32_t i = 0; i < placement->loop_bounds.count; i++) {
        const struct forge_comparison *bound =
            &space->comparisons[placement->loop_bounds.first + i];
        if (!dimension_fits(space, bound->level, bound->dimension))
            return FORGE_BAD_INDEX;
    }

    uint64_t backed = 0;
    const struct forge_keeper *keepers = &space->keepers[placement->keepers.first];
    for (uint32_t i = 0; i < placement->keepers.count; i++) {
        fault->level = keepers[i].level;
        fault->tensor = keepers[i].tensor;
        for (uint32_t j = 0; j < i; j++)
            if (keepers[i].level == keepers[j].level && keepers[i].tensor == keepers[j].tensor)
                return FORGE_HELD_TWICE;
        if (keepers[i].backing) {
            if (forge_space_level(space, keepers[i].level)->kind != FORGE_MEMORY)
                return FORGE_TOLL_OUTERMOST;
            if ((backed >> keepers[i].tensor & 1) != 0)
                return FORGE_HELD_TWICE;
            backed |= UINT64_C(1) << keepers[i].tensor;
        }
    }
    fault->level = FORGE_NONE;
    for (uint32_t t = 0; t < forge_space_einsum(space)->tensors.count; t++) {
        fault->tensor = t;
        if ((backed >> t & 1) == 0)
            return FORGE_NO_FUSED_BACKING;
    }
    fault->tensor = FORGE_NONE;
    return FORGE_OK;
}

static enum forge_status check(const struct forge_space *space, struct forge_fault *fault)
{
    enum forge_status status = forge_problem_check(&space->problem, fault);
    if (status == FORGE_OK)
        status = check_einsum(space);
    if (status == FORGE_OK)
        status = check_keepers(space);
    if (status == FORGE_OK)
        status = check_records(space);
    for (size_t p = 0; status == FORGE_OK && p < space->placement_count; p++)
        status = check_placement(space, &space->placements[p], fault);
    return status;
}

enum forge_status forge_space_check(const struct forge_space *space, struct forge_fault *fault)
{
    *fault = forge_fault_of(FORGE_OK);
    fault->status = check(space, fault);
    return fault->status;
}
