/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.h: which rows of a level and which rows of an Einsum's pieces fit together.
 *
 * A *meeting* is a cell with the rows of one piece that fit it in one way and that come out in one
 * cell. All pairs of their rows can be joined.
 */
#ifndef OFFCHIP_FUSE_MEET_H
#define OFFCHIP_FUSE_MEET_H

#include "accelforge/join/bound.h"
#include "accelforge/join/level.h"
#include "accelforge/join/pool.h"

struct fuse_meeting {
    uint32_t cell; /* of the level */
    uint32_t match;
    uint32_t result; /* cell that comes out */
    uint32_t count;
    size_t first; /* of `rows` */
};

struct fuse_meetings {
    struct fuse_matches matches;
    struct fuse_meeting *meetings; /* by the cell that comes out */
    size_t count;
    size_t room;
    uint32_t *rows; /* of pieces */
    size_t row_count;
    size_t rows_room;
    double *rests; /* per cell that comes out: what later Einsums cost at least, per objective */
    size_t rests_room;
};

/*
 * Finds the meetings of LEVEL with Einsum E. RESULT gets its lives, shapes, cells without rows, and
 * laps; cells that no later Einsum fits are left out. Both are released by the caller, also after
 * a failure.
 */
enum fuse_status fuse_meet(const struct fuse_pieces *pieces, const struct fuse_bound *bound,
                           const struct fuse_limits *limits, const struct fuse_level *level,
                           uint32_t e, struct fuse_level *result, struct fuse_meetings *meetings);
void fuse_meetings_clear(struct fuse_meetings *meetings);

#endif
