/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiles.h: the best tiles of one template.
 *
 * Tiles are chosen from the innermost loop outwards. After each loop, choices that break a limit
 * whatever comes later are dropped, then those that another one is as good as (see stages.h), and
 * then those that cannot become better than a result that is known.
 */
#ifndef OFFCHIP_FORGE_TILES_H
#define OFFCHIP_FORGE_TILES_H

#include "accelforge/search/front.h"
#include "accelforge/search/stages.h"

/* Fan-outs that must be used are compared up to this many. */
#define FORGE_MAX_USAGES 16

/* A holder of a template's plan. */
struct forge_note {
    uint32_t level;
    uint32_t tensor;
    bool backing;
    bool persistent;
    bool toll;
    bool shown; /* its share is the reservation of its level */
};

/* Results of one template, one per row. */
struct forge_rows {
    uint32_t *tiles;          /* loop_count per row, from the top */
    double *objectives;       /* FORGE_OBJECTIVES per row */
    double *shares;           /* per row and holder: reserved / size */
    struct forge_note *notes; /* by holder */
    bool *above;              /* by holder and loop: it stands above the holder's reservation */
    uint32_t count;
    uint32_t room;
    uint32_t loop_count;
    uint32_t holder_count;
    double low[FORGE_OBJECTIVES];    /* no tiles are below this */
    double usages[FORGE_MAX_USAGES]; /* of fan-outs that must be used */
    uint32_t usage_count;
    bool complete;
    bool beaten;    /* choices could not become better than a known result */
    bool truncated; /* choices were left out: `width` was too small */
};

/* Numbers of choices. */
struct forge_counts {
    _Atomic uint64_t evaluated; /* partial ones included */
    _Atomic uint64_t valid;
    _Atomic uint64_t kept;
};

struct forge_tile_search {
    const struct forge_templates *templates;
    const struct forge_template *template;
    struct forge_fronts *fronts;    /* may be NULL */
    struct forge_front_copy *front; /* of this thread */
    struct forge_counts *counts;
    atomic_bool *stop;
    _Atomic size_t *memory; /* bytes that all searches use */
    size_t memory_limit;
    uint32_t width; /* choices that are kept at each loop, at most; 0: all */
};

/* Fills ROWS, which forge_rows_clear() releases, also after a failure. */
enum forge_status forge_tiles_search(const struct forge_tile_search *search,
                                     struct forge_rows *rows, struct forge_fault *fault);
void forge_rows_clear(struct forge_rows *rows);

/* The problem of a template; its tables are of ARENA. Tiles are the last values. */
enum forge_status forge_template_problem(const struct forge_templates *templates,
                                         const struct forge_template *template,
                                         struct forge_arena *arena, struct forge_problem *problem);

/* The memories whose reservations matter outside, each once: how many; LEVELS may be NULL. */
uint32_t forge_tracked_levels(const struct forge_space *space, uint32_t *levels);

#endif
