/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * goal.h: what results are compared by, and the results that are known already.
 *
 * A result has *measures*: the objectives that are asked for, then the energy-delay product, then
 * the largest use of each tracked memory.
 */
#ifndef OFFCHIP_FUSE_GOAL_H
#define OFFCHIP_FUSE_GOAL_H

#include "accelforge/join/pareto.h"
#include "accelforge/join/pieces.h"

#define FUSE_MAX_MEASURES (FUSE_MAX_OBJECTIVES + 1 + FUSE_MAX_MEMORIES)

struct fuse_goal {
    uint32_t wanted; /* set of objectives */
    bool product;    /* of these two */
    uint32_t energy;
    uint32_t latency;
    bool usage;
};

struct fuse_known {
    uint32_t width;
    double *measures;
    size_t count;
    size_t room;
};

/*
 * Sets MEASURES of a row with OBJECTIVES that fills tracked memory m to PEAKS[m * STRIDE]; returns
 * how many there are.
 */
uint32_t fuse_measure(const struct fuse_goal *goal, const struct fuse_pieces *pieces,
                      const double *objectives, const double *peaks, size_t stride,
                      double *measures);

/* Adds a result; false: out of memory. */
bool fuse_know(struct fuse_known *known, const double *measures, uint32_t count);

/* True if a known result is better than whatever has at least MEASURES; rounding is no better. */
bool fuse_is_beaten(const struct fuse_known *known, const double *measures);
void fuse_known_clear(struct fuse_known *known);

#endif
