/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relevance.h: how rank variables index tensors.
 */
#ifndef OFFCHIP_FORGE_RELEVANCE_H
#define OFFCHIP_FORGE_RELEVANCE_H

#include "accelforge/model/plan.h"

/* The relevance of VARIABLE to TENSOR: the first rank that has the variable decides. */
enum forge_relevance forge_relevance_of(const struct forge_problem *problem,
                                        const struct forge_tensor *tensor, uint32_t variable);

/* The rank of TENSOR that VARIABLE indexes first, or FORGE_NONE. */
uint32_t forge_rank_of(const struct forge_problem *problem, const struct forge_tensor *tensor,
                       uint32_t variable);

/* True if each tensor of EINSUM that has VARIABLE has it alone in one rank, as it is. */
bool forge_variable_is_simple(const struct forge_problem *problem,
                              const struct forge_einsum *einsum, uint32_t variable);

#endif
