/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dominance.h: which points of one set are dominated by points of another.
 */
#ifndef OFFCHIP_FUSE_DOMINANCE_H
#define OFFCHIP_FUSE_DOMINANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuse_dominance {
    const double *numbers; /* of all points, none of them NaN */
    uint32_t width;        /* numbers per point */
    const uint32_t *axes;  /* the numbers that count */
    bool *dropped;         /* per point */
};

/*
 * Sets the flag of each target that a source is at least as good as in the first AXES axes. Both
 * are numbers of points, and are put into another order. The time grows little faster than the
 * count of points, unless there are many axes.
 */
void fuse_drop_dominated(const struct fuse_dominance *d, uint32_t *sources, size_t source_count,
                         uint32_t *targets, size_t target_count, uint32_t axes);

#endif
