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
#include "accelforge/search/incumbents.h"
#include "accelforge/search/rows.h"
#include "accelforge/search/template.h"

/* Numbers of choices. */
struct forge_counts {
    _Atomic uint64_t evaluated; /* partial ones included */
    _Atomic uint64_t valid;
    _Atomic uint64_t kept;
};

struct forge_tile_search {
    const struct forge_templates *templates;
    const struct forge_template *template;
    struct forge_fronts *fronts;               /* may be NULL */
    struct forge_front_copy *front;            /* of this thread */
    const struct forge_incumbents *incumbents; /* may be NULL */
    struct forge_counts *counts;
    atomic_bool *stop;
    _Atomic size_t *memory; /* bytes that all searches use */
    size_t memory_limit;
    uint32_t width; /* choices that are kept at each loop, at most; 0: all */
};

/* A number for the outermost holders of shared tensors, in any order: results of templates that
 * agree in it are compared. */
uint64_t forge_structure_of(const struct forge_space *space, const struct forge_template *template);

/* Fills ROWS, which forge_rows_clear() releases, also after a failure. */
enum forge_status forge_tiles_search(const struct forge_tile_search *search,
                                     struct forge_rows *rows, struct forge_fault *fault);

#endif
