/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * factors.h: the tiles that a loop may have.
 */
#ifndef OFFCHIP_FORGE_FACTORS_H
#define OFFCHIP_FORGE_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "accelforge/search/arena.h"

/* Tiles in rising order. */
struct forge_choices {
    uint32_t *tiles;
    uint32_t count;
};

/*
 * The tiles, multiples of INNER (about, if RAGGED), that a variable of BOUND values may be cut
 * into: those that divide it, or if RAGGED the smallest for each number of tiles. A tile is left
 * out if it is less than COARSENESS times the one before; BOUND itself never is. False if out of
 * memory.
 */
bool forge_find_choices(struct forge_arena *arena, uint32_t bound, uint32_t inner, bool ragged,
                        double coarseness, struct forge_choices *choices);

#endif
