/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * searching.h: the state of the search of one template, for the files that are its parts.
 */
#ifndef OFFCHIP_FORGE_SEARCHING_H
#define OFFCHIP_FORGE_SEARCHING_H

#include "accelforge/search/factors.h"
#include "accelforge/search/sorting.h"
#include "accelforge/search/stages.h"
#include "accelforge/search/tiles.h"

/* The tiles of a loop, by the tile inside. */
struct forge_known_choices {
    uint32_t inner;
    struct forge_choices choices;
    struct forge_known_choices *next;
};

/* Rows that may have to be kept, with equal keys. */
struct forge_block {
    uint32_t *parents;
    double *values;
    double *criteria;
    uint32_t *kept;
    uint32_t *scratch;
    uint32_t count;
    uint32_t room;
};

struct forge_searching {
    const struct forge_tile_search *search;
    const struct forge_goals *goals;
    const struct forge_stages *stages;
    const struct forge_space *space;
    struct forge_arena *arena;
    struct forge_known_choices *known[FORGE_MAX_SYMBOLS];
    struct forge_choice_table now;
    uint32_t stage; /* symbols below it have tiles in NOW */
    struct forge_choice_table next;
    struct forge_sorting sorting;
    struct forge_block block;
    uint64_t structure;
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count;
    double *low;                      /* a point of the front */
    double *net;                      /* room for the values of all groups */
    double removed[FORGE_OBJECTIVES]; /* nothing that was left out is below this */
    double instances;
    bool bounded;        /* choices are pruned by the front */
    bool has_incumbents; /* and by the incumbents */
    bool beaten;         /* an incumbent pruned one */
    bool may_speculate;  /* choices may be pruned while fan-out usage is unknown */
    bool speculative;    /* it is unknown now */
    bool speculated;     /* a choice was pruned meanwhile */
    bool misled;         /* and that may have changed what is kept */
    bool fused;          /* a fused loop has more than one iteration */
    bool late;
    struct forge_rows *rows;
    bool truncated;
    size_t memory;
    uint64_t evaluated;
    uint64_t valid;
};

static inline bool forge_is_stopped(const struct forge_searching *s)
{
    return s->search->stop != NULL && atomic_load_explicit(s->search->stop, memory_order_relaxed);
}

#endif
