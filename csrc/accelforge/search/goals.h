/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * goals.h: what the tiles of a template are chosen for, as polynomials in these tiles.
 *
 * A *symbol* is the tile of a loop that can be chosen: the innermost loop of a variable has a tile
 * of 1. Symbols are numbered from the innermost loop outwards. A ragged outermost loop has a
 * second symbol, for its iterations rounded up.
 */
#ifndef OFFCHIP_FORGE_GOALS_H
#define OFFCHIP_FORGE_GOALS_H

#include "accelforge/model/model.h"
#include "accelforge/search/polynomial.h"
#include "accelforge/search/template.h"

/* No template has more symbols. */
#define FORGE_MAX_SYMBOLS 64

enum forge_purpose {
    FORGE_FOR_ENERGY,
    FORGE_FOR_LATENCY, /* the largest of them counts */
    FORGE_FOR_MEMORY,  /* share of a memory, never above 1 */
    FORGE_FOR_FANOUT,  /* instances, or another limit of iterations or tiles */
    FORGE_FOR_USAGE,   /* instances that are to be used */
    FORGE_FOR_COST     /* something else that is to be small */
};

struct forge_goal {
    enum forge_purpose purpose;
    struct forge_polynomial polynomial;
    bool small;  /* less is better */
    bool large;  /* more is better; with `small`: neither */
    bool passes; /* once all its symbols are known, it matters only whether the limits hold */
    bool grows;  /* with each symbol */
    double most;
    double least;
    bool strict;
    uint32_t level; /* of a memory */
};

struct forge_symbol {
    uint32_t loop;
    uint32_t variable;
    uint32_t inner; /* the next symbol inwards over the variable, or FORGE_NONE: 1 */
    uint32_t outer; /* outwards, or FORGE_NONE: the bound */
    double bound;   /* of the variable */
    bool fused;
    bool repeats; /* its loop must have more than one iteration */
    bool ragged;
    uint32_t rounded; /* the place of the second symbol, or FORGE_NONE */
};

struct forge_goals {
    struct forge_ring ring;
    struct forge_symbol symbols[FORGE_MAX_SYMBOLS];
    uint32_t symbol_count;
    uint32_t *symbol_of_loop; /* FORGE_NONE: its tile is that in `fixed` */
    uint32_t *fixed;
    struct forge_goal *list;
    uint32_t count;
    uint32_t room;
    double leak; /* W that nothing gates */
};

/*
 * Makes the goals of a template; MODEL is of its problem. All memory is of ARENA. REPEATS (NULL:
 * any may) says which fused loops have more than one iteration: the others have exactly one.
 */
enum forge_status forge_goals_make(struct forge_goals *goals, struct forge_arena *arena,
                                   const struct forge_templates *templates,
                                   const struct forge_template *template,
                                   const struct forge_model *model, const bool *repeats);

#endif
