/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "accelforge/model/relevance.h"
#include "accelforge/search/template.h"

static double value_of(const struct forge_space *space, uint32_t value)
{
    return space->problem.values[value];
}

/* True if a rank is one variable as it is. */
static bool is_direct(const struct forge_space *space, const struct forge_rank *rank)
{
    if (rank->terms.count != 1 || rank->constant != FORGE_NONE)
        return false;
    double coefficient = value_of(space, space->problem.terms[rank->terms.first].coefficient);
    return coefficient >= 1 && coefficient <= 1;
}

static void note_tensor(struct forge_facts *facts, uint32_t t)
{
    const struct forge_space *space = facts->space;
    const struct forge_problem *problem = &space->problem;
    const struct forge_tensor *tensor =
        &problem->tensors[forge_space_einsum(space)->tensors.first + t];
    uint64_t all = 0;
    for (uint32_t r = 0; r < tensor->ranks.count; r++) {
        const struct forge_rank *rank = &problem->ranks[tensor->ranks.first + r];
        for (uint32_t i = 0; i < rank->terms.count; i++) {
            uint64_t variable = UINT64_C(1) << problem->terms[rank->terms.first + i].variable;
            all |= variable;
            if (is_direct(space, rank))
                facts->direct[t] |= variable;
        }
    }
    facts->partial[t] = all & ~facts->direct[t];
    for (uint32_t v = 0; v < facts->variable_count; v++)
        if (forge_relevance_of(problem, tensor, v) == FORGE_RELEVANT)
            facts->relevant[t] |= UINT64_C(1) << v;
}

static void note_levels(struct forge_facts *facts)
{
    double fanout = 1;
    facts->first_memory = FORGE_NONE;
    for (uint32_t l = 0; l < facts->level_count; l++) {
        const struct forge_level *level = forge_space_level(facts->space, l);
        double own = 1;
        for (uint32_t d = 0; d < level->dimensions.count; d++)
            own *= value_of(facts->space,
                            facts->space->problem.dimensions[level->dimensions.first + d].fanout);
        facts->own_fanouts[l] = floor(own);
        fanout *= floor(own);
        facts->fanouts[l] = fanout;
        if (level->kind == FORGE_MEMORY && facts->first_memory == FORGE_NONE)
            facts->first_memory = l;
    }
}

void forge_facts_note(struct forge_facts *facts, const struct forge_space *space)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    facts->space = space;
    facts->variable_count = einsum->variables.count;
    facts->tensor_count = einsum->tensors.count;
    facts->level_count = einsum->levels.count;
    facts->copy = einsum->copy != 0;
    facts->all = facts->variable_count == FORGE_MAX_MEMBERS
                     ? UINT64_MAX
                     : (UINT64_C(1) << facts->variable_count) - 1;

    for (uint32_t v = 0; v < facts->variable_count; v++) {
        uint32_t i = v;
        for (; i > 0 && space->variable_ranks[facts->sorted[i - 1]] > space->variable_ranks[v]; i--)
            facts->sorted[i] = facts->sorted[i - 1];
        facts->sorted[i] = (uint8_t)v;
    }
    for (uint32_t t = 0; t < facts->tensor_count; t++)
        note_tensor(facts, t);
    note_levels(facts);
}
