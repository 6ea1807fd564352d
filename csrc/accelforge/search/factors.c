/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/factors.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Sorts tiles, drops equal ones and those that the coarseness does not allow. */
static void thin_out(struct forge_choices *choices, uint32_t bound, double coarseness)
{
    uint32_t kept = 0;
    qsort(choices->tiles, choices->count, sizeof *choices->tiles, compare);
    for (uint32_t i = 0; i < choices->count; i++) {
        uint32_t tile = choices->tiles[i];
        bool again = kept > 0 && tile <= choices->tiles[kept - 1];
        bool close = kept > 0 && tile < choices->tiles[kept - 1] * coarseness;
        if (!again && (!close || tile >= bound))
            choices->tiles[kept++] = tile;
    }
    choices->count = kept;
}

static bool divide(struct forge_arena *arena, uint32_t bound, uint32_t inner, double coarseness,
                   struct forge_choices *choices)
{
    uint32_t whole = divide_up(bound, inner);
    uint32_t root = (uint32_t)sqrt((double)whole) + 1;
    uint32_t count = 1;
    for (uint32_t i = 1; i <= root && i <= whole; i++)
        count += whole % i == 0 ? 2 : 0;
    choices->tiles = forge_arena_take(arena, count, sizeof *choices->tiles);
    if (choices->tiles == NULL)
        return false;

    choices->count = 0;
    for (uint32_t i = 1; i <= root && i <= whole; i++) {
        if (whole % i != 0)
            continue;
        uint64_t pair[2] = {(uint64_t)i * inner, (uint64_t)(whole / i) * inner};
        for (uint32_t p = 0; p < 2; p++)
            choices->tiles[choices->count++] = pair[p] < bound ? (uint32_t)pair[p] : bound;
    }
    choices->tiles[choices->count++] = bound;
    thin_out(choices, bound, coarseness);
    return true;
}

/* The largest power of the coarseness, but the first at least, that takes a size to EDGE at most:
 * what is below rounds to tiles that make as many. */
static double steps_below(double edge, double size, double coarseness)
{
    double steps = floor(log(edge / size) / log(coarseness));
    return steps > 1 ? pow(coarseness, steps) : coarseness;
}

/* For each number of tiles the smallest tile; there are about 2 * sqrt(bound / inner). */
static bool cut(struct forge_arena *arena, uint32_t bound, uint32_t inner, double coarseness,
                struct forge_choices *choices)
{
    uint32_t most = 2 * ((uint32_t)sqrt((double)divide_up(bound, inner)) + 2) + 1;
    choices->tiles = forge_arena_take(arena, most, sizeof *choices->tiles);
    if (choices->tiles == NULL)
        return false;

    choices->count = 0;
    double wanted = inner;
    uint32_t before = 0;
    while (wanted <= bound && choices->count + 1 < most) {
        uint32_t tile = (uint32_t)(round(wanted / inner) * inner);
        if (tile < inner)
            tile = inner;
        if (tile > bound)
            break;
        uint32_t tiles = divide_up(bound, tile);
        uint32_t smallest = divide_up(bound, tiles);
        if (tiles != before)
            choices->tiles[choices->count++] = smallest < inner ? inner : smallest;
        before = tiles;

        /* On to a tile that makes fewer of them. */
        double next = tiles > 1 ? divide_up(bound, tiles - 1) : (double)bound + 1;
        next = ceil(next / inner) * inner;
        wanted =
            coarseness > 1 ? wanted * steps_below(next - 0.5 * inner, wanted, coarseness) : next;
    }
    choices->tiles[choices->count++] = bound;
    thin_out(choices, bound, 1);
    return true;
}

bool forge_find_choices(struct forge_arena *arena, uint32_t bound, uint32_t inner, bool ragged,
                        double coarseness, struct forge_choices *choices)
{
    return ragged ? cut(arena, bound, inner, coarseness, choices)
                  : divide(arena, bound, inner, coarseness, choices);
}
