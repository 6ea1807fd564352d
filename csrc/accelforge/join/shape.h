/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape.h: what a joined part of the workload shows to the Einsums after it, without numbers.
 *
 * A *live* tensor is used before and after. The shape has the loops above the deepest holder of a
 * live tensor, in an order that is one of those that are possible.
 */
#ifndef OFFCHIP_FUSE_SHAPE_H
#define OFFCHIP_FUSE_SHAPE_H

#include "accelforge/join/pieces.h"

#define FUSE_MAX_LIVE UINT32_C(64)

struct fuse_live {
    uint32_t tensor;
    uint32_t memory;
    uint32_t depth;
    uint32_t persistent;
    uint32_t above;                 /* set of loops */
    uint32_t ranks[FUSE_MAX_LOOPS]; /* of the loops above; the others are 0 */
};

struct fuse_shape {
    uint32_t loop_count;
    uint32_t live_count;
    uint32_t kinds[FUSE_MAX_LOOPS];
    uint32_t before[FUSE_MAX_LOOPS]; /* sets of loops that are further out in any order */
    struct fuse_live *lives;         /* by tensor; owned by the list of shapes */
};

/* Shapes, each of which is there once. {0} is an empty list. */
struct fuse_shapes {
    struct fuse_shape *shapes;
    uint32_t count;
    size_t room;
    struct fuse_map hashes; /* numbers of the first shapes with a hash */
    uint32_t *firsts;
    uint32_t *nexts;
    size_t firsts_room;
    size_t nexts_room;
};

/* One way in which a piece fits a shape. */
struct fuse_match {
    uint32_t left; /* shape */
    uint32_t piece;
    uint32_t shape;              /* what comes out, in another list */
    uint8_t in[FUSE_MAX_LOOPS];  /* loop of the shape -> loop of the piece */
    uint8_t out[FUSE_MAX_LOOPS]; /* loop of the shape that comes out -> loop of the piece */
    uint64_t fresh;              /* fused tensors of the piece that were not held before */
    uint64_t dying;   /* those that are held for the last time, and are held above shared loops */
    uint64_t waiting; /* live tensors of the shape that the piece does not use */
    uint32_t from_left[FUSE_MAX_LIVE];  /* live tensor that comes out -> of the shape, or NONE */
    uint32_t from_piece[FUSE_MAX_LIVE]; /* -> fused tensor of the piece, or NONE */
};

struct fuse_matches {
    struct fuse_match *matches;
    size_t count;
    size_t room;
};

/*
 * Adds to MATCHES all ways in which PIECE, of Einsum E, fits shape LEFT of FROM, and to TO the
 * shapes that come out. LIVES are the LIVE_COUNT tensors that are live after E, ascending.
 * FUSE_TOO_LARGE: there are too many ways.
 */
enum fuse_status fuse_match_piece(const struct fuse_pieces *pieces, const struct fuse_shapes *from,
                                  uint32_t left, uint32_t piece, const uint32_t *lives,
                                  uint32_t live_count, struct fuse_shapes *to,
                                  struct fuse_matches *matches);

/* The key that live tensor I of SHAPE has if the loops have LAPS. */
uint64_t fuse_shape_key(const struct fuse_shape *shape, uint32_t i, const uint32_t *laps);

/* Adds the shape of nothing. False: out of memory. */
bool fuse_shapes_start(struct fuse_shapes *shapes);
void fuse_shapes_clear(struct fuse_shapes *shapes);

#endif
