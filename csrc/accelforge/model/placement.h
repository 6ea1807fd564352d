/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * placement.h: where reservations stand, and the order in which a tensor sees loops.
 */
#ifndef OFFCHIP_FORGE_PLACEMENT_H
#define OFFCHIP_FORGE_PLACEMENT_H

#include "accelforge/model/plan.h"

enum forge_item_kind { FORGE_ITEM_LOOP, FORGE_ITEM_HOLDER, FORGE_ITEM_LEAF };

/* A step after holders were split by tensor. */
struct forge_item {
    enum forge_item_kind kind;
    uint32_t index; /* of the loop or holder */
    uint32_t gap;   /* of a holder: its reservation stands directly above the item of that number */
};

/*
 * Sets the gap of each holder among ITEMS; LOWERED says whether reservations sink (those of copies
 * do not). The outermost holder of a tensor keeps its reservation directly below it. SINKING is
 * scratch space for COUNT numbers.
 */
void forge_place_reservations(struct forge_item *items, uint32_t count,
                              const struct forge_plan *plan, const struct forge_problem *problem,
                              const struct forge_einsum *einsum, bool lowered, uint32_t *sinking);

/*
 * Fills the path of tensor T: its hops, and `above`, `reserved_above` and `fused_above` of its
 * holders. FORGE_LOOPS_CROSS if the order contradicts itself. ORDER is scratch space for COUNT
 * numbers.
 */
enum forge_status forge_place_path(struct forge_plan *plan, const struct forge_problem *problem,
                                   const struct forge_einsum *einsum, uint32_t t,
                                   const struct forge_item *items, uint32_t count,
                                   uint32_t leaf_level, uint32_t *order);

#endif
