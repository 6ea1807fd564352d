/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * variants.h: sets of fused loops that have more than one iteration.
 *
 * If few fused loops may have more than one iteration, each set of them is searched apart: where
 * the tiles of the other fused loops are those around them, there is less to be kept equal.
 */
#ifndef OFFCHIP_FORGE_VARIANTS_H
#define OFFCHIP_FORGE_VARIANTS_H

#include "accelforge/search/goals.h"
#include "accelforge/search/tiles.h"

struct forge_variants {
    bool *repeats; /* by variant and loop */
    struct forge_rows *rows;
    uint32_t count; /* 0: there are none, all are searched together */
    uint32_t loop_count;
};

/* Lists the variants of a template whose plan is PLAN; their tables are of ARENA. */
enum forge_status forge_variants_list(struct forge_variants *variants, struct forge_arena *arena,
                                      const struct forge_tile_search *search,
                                      const struct forge_plan *plan);

/* True if a variant without rows may have used fan-outs better than those that have some. */
bool forge_variants_doubt(const struct forge_variants *variants);

/* Puts the rows of variants together, but for those that another one uses fan-outs better than;
 * false if out of memory. */
bool forge_variants_merge(const struct forge_variants *variants, struct forge_rows *all);

#endif
