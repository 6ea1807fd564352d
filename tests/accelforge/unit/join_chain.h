/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the join: a chain of Einsums, each of which makes T<i+1>[x, y] of T<i>[x, y], with
 * random pmappings: T<i> is in memory 0, or in memory 1 below loops over x, y, or both.
 */
#ifndef OFFCHIP_TESTS_JOIN_CHAIN_H
#define OFFCHIP_TESTS_JOIN_CHAIN_H

#include <stdlib.h>
#include <string.h>

#include "accelforge/join/fuse.h"
#include "tests/support/check.h"

enum { LINKS_MOST = 12, GROUPS_EACH = 12, ROWS_EACH = 8 };
enum {
    GROUPS_ROOM = LINKS_MOST * GROUPS_EACH,
    ROWS_ROOM = GROUPS_ROOM * ROWS_EACH,
};

struct links {
    struct fuse_tables tables;
    struct fuse_einsum einsums[LINKS_MOST];
    struct fuse_access accesses[2 * LINKS_MOST];
    struct fuse_group groups[GROUPS_ROOM];
    struct fuse_loop loops[2 * GROUPS_ROOM];
    struct fuse_holder holders[2 * GROUPS_ROOM];
    struct fuse_reservation reservations[GROUPS_ROOM];
    uint32_t ranks[4 * LINKS_MOST];
    double bounds[2 * LINKS_MOST];
    double objectives[2 * ROWS_ROOM];
    int64_t tiles[2 * ROWS_ROOM];
    double values[3 * ROWS_ROOM];
};

static inline double links_number(uint64_t *seed)
{
    return (double)(1 + check_random_below(seed, 1000));
}

/* A group whose tensors are below LOOPS loops, the first of which is over FIRST. */
static inline void links_group(struct links *l, uint32_t e, uint32_t count, uint32_t loops,
                               uint32_t first, double scale, uint64_t *seed)
{
    struct fuse_tables *t = &l->tables;
    uint32_t held = (e > 0 ? 1u : 0u) + (e + 1 < count ? 1u : 0u);
    l->groups[t->group_count++] = (struct fuse_group){ROWS_EACH, loops, held, 1, 0};
    for (uint32_t i = 0; i < loops; i++)
        l->loops[t->loop_count++] = (struct fuse_loop){(first + i) % 2, 0};
    for (uint32_t i = 0; i < held; i++) {
        uint32_t tensor = e > 0 ? e + i : e + 1;
        uint32_t depth = (uint32_t)check_random_below(seed, loops + 1);
        if (i == 0)
            depth = loops;
        l->holders[t->holder_count++] = (struct fuse_holder){tensor, depth == 0 ? 0 : 1, depth};
    }
    l->reservations[t->reservation_count++] =
        (struct fuse_reservation){1, (uint32_t)check_random_below(seed, loops + 1)};

    for (uint32_t row = 0; row < ROWS_EACH; row++) {
        l->objectives[t->objective_number_count++] = links_number(seed);
        l->objectives[t->objective_number_count++] = links_number(seed);
        for (uint32_t i = 0; i < loops; i++)
            l->tiles[t->tile_count++] = INT64_C(1) << check_random_below(seed, 3);
    }
    for (uint32_t i = 0; i < (held + 1) * ROWS_EACH; i++)
        l->values[t->value_count++] = links_number(seed) * scale;
}

/* COUNT Einsums; no memory is ever too small if SCALE is small. */
static inline void links_make(struct links *l, uint32_t count, double scale, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    struct fuse_tables *t = &l->tables;
    CHECK(count <= LINKS_MOST);
    for (uint32_t e = 0; e < count; e++) {
        l->einsums[t->einsum_count++] = (struct fuse_einsum){2, 2, GROUPS_EACH, 0};
        l->accesses[t->access_count++] = (struct fuse_access){e, 0};
        l->accesses[t->access_count++] = (struct fuse_access){e + 1, 1};
        for (uint32_t i = 0; i < 4; i++)
            l->ranks[t->rank_count++] = i % 2;
        for (uint32_t i = 0; i < 2; i++)
            l->bounds[t->bound_count++] = 8;
        for (uint32_t g = 0; g < GROUPS_EACH; g++)
            links_group(l, e, count, g % 3, g / 3 % 2, scale, &seed);
    }
    t->einsums = l->einsums;
    t->accesses = l->accesses;
    t->groups = l->groups;
    t->loops = l->loops;
    t->holders = l->holders;
    t->reservations = l->reservations;
    t->ranks = l->ranks;
    t->bounds = l->bounds;
    t->objectives = l->objectives;
    t->tiles = l->tiles;
    t->values = l->values;
    t->objective_count = 2;
    t->tensor_count = count + 1;
    t->memory_count = 2;
}

static inline struct fuse_request links_request(const struct links *l, unsigned threads)
{
    return (struct fuse_request){
        .tables = &l->tables,
        .goal = {.wanted = 3, .latency = 1},
        .limits = {.threads = threads, .deadline = __builtin_inf(), .bytes = SIZE_MAX},
    };
}

#endif
