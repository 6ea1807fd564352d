/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space.h: the mapspace of one Einsum, as flat tables.
 *
 * A *placement* says which tensors each memory and toll keeps; the rest is to be found: the order
 * of the holders, the loops between them, and the tiles of the loops.
 */
#ifndef OFFCHIP_FORGE_SPACE_H
#define OFFCHIP_FORGE_SPACE_H

#include "accelforge/model/model.h"

/* Sets of variables and tensors are words of this many bits. */
#define FORGE_MAX_MEMBERS 64
#define FORGE_MAX_LEVELS 256

enum forge_relation { FORGE_EQUAL, FORGE_AT_MOST, FORGE_AT_LEAST, FORGE_BELOW, FORGE_ABOVE };

/* A tensor in a component. */
struct forge_keeper {
    uint32_t level;
    uint32_t tensor;
    uint32_t backing; /* the outermost of its tensor */
    uint32_t persistent;
    uint32_t must_keep;
};

/* Tensors in their order from above within a component; those of one set in any order. */
struct forge_order {
    uint32_t level;
    struct forge_span sets; /* sets: of tensors */
};

/* A limit of numbers that belong to loops over VARIABLES: of each of them, or of their product. */
struct forge_comparison {
    uint32_t level;
    uint32_t dimension; /* of the level, if it is about its spatial loops */
    uint32_t relation;  /* enum forge_relation */
    uint32_t product;
    uint32_t value;     /* number */
    uint32_t variables; /* set */
};

/* The part of a dimension of a fan-out that is used at least. */
struct forge_usage {
    uint32_t level;
    uint32_t dimension;
    uint32_t value; /* number */
};

/* Tensors that loops outside, or inside, of a component must not move again. */
struct forge_resident {
    uint32_t level;
    uint32_t fetched; /* set */
    uint32_t sent;    /* set */
};

struct forge_placement {
    struct forge_span keepers;
    struct forge_span orders;
    struct forge_span residents;
    struct forge_span tile_bounds; /* comparisons */
    struct forge_span loop_bounds; /* comparisons */
    struct forge_span usages;
};

/* X(record, table) */
#define FORGE_SPACE_TABLES(X) \
    X(placement, placements) \
    X(keeper, keepers) \
    X(order, orders) \
    X(resident, residents) \
    X(comparison, comparisons) \
    X(usage, usages)

/* X(name): what the mapper may do; numbers as in spec.mapper. */
#define FORGE_SETTINGS(X) \
    X(force_memory_hierarchy_order) \
    X(max_fused_loops_per_rank_variable) \
    X(max_fused_loops) \
    X(max_loops) \
    X(max_loops_minus_ranks) \
    X(max_loops_per_spatial_dimension) \
    X(tiling_coarseness) \
    X(explore_loop_orders) \
    X(max_pmapping_templates_per_einsum) \
    X(explore_imperfect_spatial_loops) \
    X(explore_imperfect_temporal_loops) \
    X(objective_tolerance) \
    X(resource_usage_tolerance) \
    X(out_of_order_hierarchy_explore_removing_spatials_for_more_temporals)

struct forge_settings {
#define X(name) double name;
    FORGE_SETTINGS(X)
#undef X
};

struct forge_space {
    struct forge_problem problem; /* one Einsum, whose steps are its leaf alone */
#define X(record, table) \
    const struct forge_##record *table; \
    size_t record##_count;
    FORGE_SPACE_TABLES(X)
#undef X
    const uint64_t *sets; /* of variables, tensors or levels, as bits */
    size_t set_count;
    const double *numbers;
    size_t number_count;
    const uint32_t *variable_ranks; /* position of each variable among the sorted names */
    const uint32_t *tensor_ranks;
    const uint32_t *level_ranks;
    const uint8_t *unforced; /* by level: it may stand above memories that are above it */
    const uint8_t *tracked;  /* by level: what it holds matters to other Einsums */
    uint64_t shared;         /* tensors that other Einsums have too */
    uint64_t intermediate;
    bool wanted[FORGE_OBJECTIVES]; /* what is to be small */
    bool usage;                    /* the same, of all memories */
    struct forge_settings settings;
};

/*
 * Checks all tables, the problem included: after FORGE_OK the other functions can follow any
 * index. Any bytes may be given. FAULT (not NULL) says what is wrong.
 */
enum forge_status forge_space_check(const struct forge_space *space, struct forge_fault *fault);

/* How many objectives there are. */
uint32_t forge_space_objectives(const struct forge_space *space);

/* Questions about the Einsum that are asked often. */
const struct forge_einsum *forge_space_einsum(const struct forge_space *space);
const struct forge_level *forge_space_level(const struct forge_space *space, uint32_t level);

#endif
