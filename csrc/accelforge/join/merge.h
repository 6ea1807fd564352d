/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge.h: joins the rows that meet, and keeps those that may become part of a best result.
 */
#ifndef OFFCHIP_FUSE_MERGE_H
#define OFFCHIP_FUSE_MERGE_H

#include "accelforge/join/goal.h"
#include "accelforge/join/meet.h"

struct fuse_merging {
    const struct fuse_pieces *pieces;
    const struct fuse_goal *goal;
    const struct fuse_known *known;
    const struct fuse_limits *limits;
    uint32_t most_rows;  /* that a cell keeps; 0: all */
    uint32_t most_cells; /* 0: all */
    uint64_t *joined;    /* pairs of rows that were joined; is added to */
};

/*
 * Joins the rows of LEVEL with those of Einsum E as MEETINGS says, and puts what is kept into the
 * cells of RESULT, which fuse_meet() has made. What it keeps does not depend on the number of
 * threads. FUSE_STOPPED: it is over, or takes too many bytes.
 */
enum fuse_status fuse_merge(const struct fuse_merging *merging, const struct fuse_level *level,
                            uint32_t e, const struct fuse_meetings *meetings,
                            struct fuse_level *result);

#endif
