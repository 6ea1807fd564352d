/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h: what can be said about the mapping of one Einsum without its numbers.
 *
 * A plan resolves the list of steps into loops and holders. A *holder* is one tensor in one
 * component: a storage node or toll with several tensors is several holders, in the order of its
 * names. Each tensor has a *path*: its holders and all loops, in the order in which that tensor
 * sees them. Paths differ because a spatial loop belongs to a fan-out: for a tensor it stands
 * directly above the first holder that the fan-out replicates.
 *
 * A *reservation* is the place where the tile that a holder keeps becomes fixed. It sinks below
 * the holder through loops that are relevant to the tensor.
 */
#ifndef OFFCHIP_FORGE_PLAN_H
#define OFFCHIP_FORGE_PLAN_H

#include "accelforge/model/problem.h"

enum forge_relevance { FORGE_IRRELEVANT, FORGE_PARTLY_RELEVANT, FORGE_RELEVANT };

struct forge_loop {
    uint32_t variable;
    uint32_t tile;  /* value */
    uint32_t outer; /* the next loop outwards over the same variable, or FORGE_NONE */
    uint32_t node;
    uint32_t level; /* of a spatial loop */
    uint32_t dimension;
    bool spatial;
    /* Its variable is in no sum: if no loop outwards has cut it, tensors that the loop is
     * irrelevant to see the number of iterations rounded up. */
    bool rounds_up;
};

/* A loop as a tensor sees it. */
struct forge_hop {
    uint32_t loop;
    uint8_t relevance; /* enum forge_relevance */
    bool spatial;
    bool reused; /* spatial: what goes to the parent is multicast or reduced */
};

/* coefficient * (extent - 1), where the extent is the tile of a loop or the bound of a variable */
struct forge_extent {
    uint32_t loop; /* FORGE_NONE: the bound */
    uint32_t variable;
    double coefficient;
};

/* The size of a tile in one rank: base + the sum of its extents. */
struct forge_factor {
    struct forge_span extents;
    double base;
};

struct forge_holder {
    uint32_t tensor;
    uint32_t level;
    uint32_t holding; /* of the problem */
    bool toll;
    bool persistent;
    bool up;
    bool down;
    bool skip_initial;
    uint32_t above;          /* number of loops above it on its path */
    uint32_t reserved_above; /* number of loops above its reservation on its path */
    uint32_t fused_above;    /* the same in the order of the mapping */
    struct forge_span tile;  /* factors: what fills it */
    struct forge_span reserved;
};

struct forge_path {
    struct forge_span holders; /* outermost first */
    uint32_t hops;             /* the first of loop_count hops, outermost first */
    bool output;
};

struct forge_plan {
    struct forge_loop *loops; /* in the order of the mapping */
    uint32_t loop_count;
    struct forge_path *paths; /* one per tensor */
    uint32_t path_count;
    struct forge_hop *hops;
    struct forge_holder *holders; /* by tensor */
    uint32_t holder_count;
    struct forge_factor *factors;
    uint32_t factor_count;
    struct forge_extent *extents;
    uint32_t extent_count;
    /* Holders that results show: all; of a copy the first in each level, for all tensors there. */
    uint32_t *shown;
    uint32_t shown_count;
    bool copy;
    uint32_t source;   /* of a copy: the tensor that is shown */
    bool skip_initial; /* of the compute */
};

/*
 * Makes the plan of Einsum E of a checked problem. PLAN is released by forge_plan_clear(), also
 * after a failure.
 */
enum forge_status forge_plan_build(struct forge_plan *plan, const struct forge_problem *problem,
                                   uint32_t e, struct forge_fault *fault);
void forge_plan_clear(struct forge_plan *plan);

#endif
