/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/relevance.h"

static bool rank_has(const struct forge_problem *problem, const struct forge_rank *rank,
                     uint32_t variable)
{
    for (uint32_t t = 0; t < rank->terms.count; t++)
        if (problem->terms[rank->terms.first + t].variable == variable)
            return true;
    return false;
}

static bool rank_is_a_sum(const struct forge_rank *rank)
{
    return rank->terms.count + (rank->constant != FORGE_NONE) > 1;
}

uint32_t forge_rank_of(const struct forge_problem *problem, const struct forge_tensor *tensor,
                       uint32_t variable)
{
    for (uint32_t r = 0; r < tensor->ranks.count; r++)
        if (rank_has(problem, &problem->ranks[tensor->ranks.first + r], variable))
            return r;
    return FORGE_NONE;
}

enum forge_relevance forge_relevance_of(const struct forge_problem *problem,
                                        const struct forge_tensor *tensor, uint32_t variable)
{
    uint32_t rank = forge_rank_of(problem, tensor, variable);
    if (rank == FORGE_NONE)
        return FORGE_IRRELEVANT;

    return rank_is_a_sum(&problem->ranks[tensor->ranks.first + rank]) ? FORGE_PARTLY_RELEVANT
                                                                      : FORGE_RELEVANT;
}

static bool has_directly(const struct forge_problem *problem, const struct forge_tensor *tensor,
                         uint32_t variable)
{
    for (uint32_t r = 0; r < tensor->ranks.count; r++) {
        const struct forge_rank *rank = &problem->ranks[tensor->ranks.first + r];
        if (rank_is_a_sum(rank) || !rank_has(problem, rank, variable))
            continue;
        double coefficient = problem->values[problem->terms[rank->terms.first].coefficient];
        if (coefficient >= 1 && coefficient <= 1)
            return true;
    }
    return false;
}

bool forge_variable_is_simple(const struct forge_problem *problem,
                              const struct forge_einsum *einsum, uint32_t variable)
{
    for (uint32_t t = 0; t < einsum->tensors.count; t++) {
        const struct forge_tensor *tensor = &problem->tensors[einsum->tensors.first + t];
        if (forge_rank_of(problem, tensor, variable) != FORGE_NONE &&
            !has_directly(problem, tensor, variable))
            return false;
    }
    return true;
}
