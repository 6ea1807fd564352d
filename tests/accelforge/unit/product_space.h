/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the search: the mapspace of a matrix product Z[m, b] = A[m, a] * W[a, b] on the
 * architecture of chain.h. The main memory keeps what the buffer is not the outermost place of; A
 * and Z may be shared with other Einsums.
 */
#ifndef OFFCHIP_TESTS_FORGE_PRODUCT_SPACE_H
#define OFFCHIP_TESTS_FORGE_PRODUCT_SPACE_H

#include "accelforge/search/space.h"
#include "chain.h"

enum { TENSOR_A, TENSOR_W, TENSOR_Z };
enum { PRODUCT_PLACEMENTS = 32, PRODUCT_KEEPERS = 6 * PRODUCT_PLACEMENTS };

struct product {
    struct chain chain;
    struct forge_space space;
    struct forge_placement placements[PRODUCT_PLACEMENTS];
    struct forge_keeper keepers[PRODUCT_KEEPERS];
    uint32_t order[FORGE_MAX_LEVELS];
    uint8_t yes[FORGE_MAX_LEVELS];
    uint8_t no[FORGE_MAX_LEVELS];
};

/* The tensors in OUTSIDE are kept in the main memory, those in INSIDE in the buffer. */
static inline void product_place(struct product *product, unsigned outside, unsigned inside)
{
    struct forge_space *space = &product->space;
    CHECK(space->placement_count < PRODUCT_PLACEMENTS);
    struct forge_placement *placement = &product->placements[space->placement_count++];
    placement->keepers.first = (uint32_t)space->keeper_count;
    for (uint32_t level = MAIN_MEMORY; level <= BUFFER; level++)
        for (uint32_t t = 0; t < 3; t++)
            if (((level == MAIN_MEMORY ? outside : inside) >> t & 1) != 0)
                product->keepers[space->keeper_count++] = (struct forge_keeper){
                    level, t, level == MAIN_MEMORY || (outside >> t & 1) == 0, 0, 0};
    placement->keepers.count = (uint32_t)space->keeper_count - placement->keepers.first;
}

/* SHARED: tensors, as bits, that may be in the buffer alone. */
static inline void product_build(struct product *product, double bound, double buffer_bits,
                                 unsigned shared)
{
    memset(product, 0, sizeof *product);
    chain_build(&product->chain, 1, false, bound, 1, buffer_bits);
    struct forge_problem *problem = &product->chain.problem;
    struct forge_einsum *einsum = product->chain.einsums;
    einsum->steps = (struct forge_span){(uint32_t)problem->step_count - 1, 1};
    /* The main memory is worth avoiding. */
    for (uint32_t i = 0; i < 2; i++)
        product->chain.actions[i].energy =
            chain_value(&product->chain, FORGE_AMOUNT, 20 + 10 * (double)i);

    struct forge_space *space = &product->space;
    space->problem = *problem;
    space->placements = product->placements;
    space->keepers = product->keepers;
    for (unsigned inside = 0; inside < 8; inside++)
        for (unsigned outside = 0; outside < 8; outside++)
            if ((outside | inside) == 7 && (~outside & 7 & ~shared) == 0)
                product_place(product, outside, inside);

    for (uint32_t i = 0; i < FORGE_MAX_LEVELS; i++) {
        product->order[i] = i;
        product->yes[i] = 1;
    }
    space->variable_ranks = space->tensor_ranks = space->level_ranks = product->order;
    space->unforced = product->no;
    space->tracked = product->yes;
    space->shared = shared;
    space->intermediate = shared;
    space->wanted[FORGE_TOTAL_ENERGY] = space->wanted[FORGE_TOTAL_LATENCY] = true;
    space->settings = (struct forge_settings){
        .force_memory_hierarchy_order = 1,
        .max_fused_loops_per_rank_variable = 1,
        .max_fused_loops = __builtin_inf(),
        .max_loops = __builtin_inf(),
        .max_loops_minus_ranks = __builtin_inf(),
        .max_loops_per_spatial_dimension = __builtin_inf(),
        .tiling_coarseness = 1,
        .explore_loop_orders = 1,
        .max_pmapping_templates_per_einsum = __builtin_inf(),
    };
}

#endif
