/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * level.h: all partial results that the first Einsums have.
 *
 * A *cell* is what is alike to later Einsums: a shape with the laps of its loops. Each of its rows
 * has these numbers: the objectives; for each tracked memory and each depth 0 to C, the number of
 * loops, the most that it holds at a time when only loops above that depth are shared with what
 * comes later; for each memory and depth again, what stays in it above that depth; for each live
 * tensor, its size.
 */
#ifndef OFFCHIP_FUSE_LEVEL_H
#define OFFCHIP_FUSE_LEVEL_H

#include "accelforge/join/shape.h"

struct fuse_cell {
    uint32_t shape;
    uint32_t rows;
    size_t lap;   /* of `laps` */
    size_t row;   /* of `parents` and `ordinals` */
    size_t value; /* of `values` */
};

struct fuse_level {
    struct fuse_shapes shapes;
    uint32_t *lives; /* tensors, ascending */
    uint32_t live_count;
    struct fuse_cell *cells;
    uint32_t cell_count;
    uint32_t *laps;
    double *values;
    uint32_t *parents;  /* per row: row of the level before */
    uint32_t *ordinals; /* per row: row of the Einsum's pieces */
    size_t row_count;
};

/* How many numbers each row of a shape has. */
static inline uint32_t fuse_row_width(const struct fuse_pieces *pieces,
                                      const struct fuse_shape *shape)
{
    return pieces->tables->objective_count + 2 * pieces->tracked_count * (shape->loop_count + 1) +
           shape->live_count;
}

/* The level before the first Einsum: one row without anything. False: out of memory. */
bool fuse_level_start(struct fuse_level *level, const struct fuse_pieces *pieces);

/* Releases all but the parents and ordinals. */
void fuse_level_drop(struct fuse_level *level);
void fuse_level_clear(struct fuse_level *level);

#endif
