/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * join.h: what fused Einsums hold in their memories at the same time.
 *
 * Einsums are executed in their order. Two that share a tensor share the loops above its outermost
 * holder. While one of them runs, the other's reservations exist too if they stand above the
 * innermost loop that both share; those directly below that loop take turns. A shared tensor
 * exists from its first Einsum to its last, and is counted once.
 */
#ifndef OFFCHIP_FORGE_JOIN_H
#define OFFCHIP_FORGE_JOIN_H

#include "accelforge/model/plan.h"

/* A memory that holds something; `live` lists, for each Einsum, what it holds meanwhile. */
struct forge_memory {
    uint32_t component;
    struct forge_span *live; /* one per Einsum, of `reservations` */
};

/* Loops of two Einsums that have to be alike; numbers among all loops of all plans. */
struct forge_pair {
    uint32_t a;
    uint32_t b;
    uint32_t einsum; /* of b */
};

struct forge_join {
    struct forge_memory *memories;
    uint32_t memory_count;
    uint32_t einsum_count;
    uint32_t *reservations; /* numbers among all holders of all plans */
    size_t reservation_count;
    struct forge_pair *pairs;
    uint32_t pair_count;
};

/*
 * Joins the plans of a checked problem. The holders and loops of plan e are numbered from
 * HOLDER_BASES[e] and LOOP_BASES[e]. JOIN is released by forge_join_clear(), also after a failure.
 */
enum forge_status forge_join_build(struct forge_join *join, const struct forge_problem *problem,
                                   const struct forge_plan *plans, const uint32_t *holder_bases,
                                   const uint32_t *loop_bases, struct forge_fault *fault);
void forge_join_clear(struct forge_join *join);

/*
 * The largest share of MEMORY that is held at any time. SHARES has one number per holder; *EINSUM
 * is the one that runs then.
 */
double forge_join_peak(const struct forge_join *join, const struct forge_memory *memory,
                       const double *shares, uint32_t *einsum);

#endif
