/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.h: one row of a level, the left side, and one of a piece, the right side, become one.
 */
#ifndef OFFCHIP_FUSE_PAIR_H
#define OFFCHIP_FUSE_PAIR_H

#include "accelforge/join/level.h"

/* Shares of a memory that add up to one may be above it by rounding. */
#define FUSE_FULL (1 + 1e-12)

/* Values that are alike for all pairs of a match. */
struct fuse_pairing {
    const struct fuse_pieces *pieces;
    const struct fuse_match *match;
    const struct fuse_shape *from;
    const struct fuse_shape *to;
    uint32_t objectives;
    uint32_t memories;
    uint32_t from_depths; /* loops of the left side, and one */
    uint32_t to_depths;   /* the same of what comes out */
    uint32_t width;       /* of a row that comes out */
};

/*
 * Per tracked memory: up to which use nothing later can make it too full. Of what was held at times
 * when no loop is shared with what comes later, and at other times; of what stays.
 */
struct fuse_harmless {
    double alone[FUSE_MAX_MEMORIES];
    double shared[FUSE_MAX_MEMORIES];
    double staying[FUSE_MAX_MEMORIES];
};

/* How many numbers fuse_fill_right() sets. */
size_t fuse_right_width(const struct fuse_pairing *pairing);

/*
 * Sets the numbers of a row of the piece: its objectives; what each memory holds while it runs;
 * what it adds to each memory above the depths of the left side; what of that stays above the
 * depths of what comes out; the sizes of the live tensors.
 */
void fuse_fill_right(const struct fuse_pairing *pairing, size_t row, double *right);

/* Sets what of the LEFT row is in each memory while the Einsum of the right side runs. */
void fuse_find_waiting(const struct fuse_pairing *pairing, const double *left, double *waiting);

/* Sets the numbers of the row that comes OUT. False: a memory is too small. */
bool fuse_join_rows(const struct fuse_pairing *pairing, const double *left, const double *waiting,
                    const double *right, double *out);

/* Among the numbers by which a row is compared, uses that can do no harm become 0. */
void fuse_clip(const struct fuse_pairing *pairing, const struct fuse_harmless *harmless,
               double *compared);

#endif
