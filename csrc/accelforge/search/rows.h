/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h: what was found for one template.
 */
#ifndef OFFCHIP_FORGE_ROWS_H
#define OFFCHIP_FORGE_ROWS_H

#include "accelforge/search/space.h"

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
    double low[FORGE_OBJECTIVES];    /* nothing that was left out is below this */
    double usages[FORGE_MAX_USAGES]; /* of fan-outs that must be used */
    uint32_t usage_count;
    bool searched; /* false: nothing is known, `low` neither */
    bool complete;
    bool beaten;     /* choices could not become better than a known result */
    bool truncated;  /* choices were left out: `width` was too small */
    bool speculated; /* choices were pruned while fan-out usage was unknown */
    bool enough;     /* fan-outs that must be used are */
};

void forge_rows_clear(struct forge_rows *rows);

/*
 * Moves the rows of MORE, of the same template, behind those of ROWS, which may have none and no
 * holders yet; false if out of memory. What ROWS says about all of its rows stays as it is.
 */
bool forge_rows_append(struct forge_rows *rows, struct forge_rows *more);

#endif
