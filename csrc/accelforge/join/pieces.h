/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h: groups of pmappings, prepared for being joined.
 *
 * A *fused* tensor is one that several Einsums use. A *lap* is a pair of a loop's tile and its
 * number of iterations; laps are numbered, and loops that are to be one loop have one lap. A row's
 * *key* of a fused tensor says in which memory and below which loops the tensor is held: all
 * Einsums that use the tensor must have equal keys (they are hashes: unequal ones never fit).
 */
#ifndef OFFCHIP_FUSE_PIECES_H
#define OFFCHIP_FUSE_PIECES_H

#include "accelforge/join/map.h"
#include "accelforge/join/tables.h"

/* A tensor of the workload. */
struct fuse_tensor {
    uint32_t first; /* Einsums that use it, or FUSE_NONE */
    uint32_t last;
    uint32_t root; /* the tensor that it is a copy of, in the end */
};

/* The outermost holder of a fused tensor. */
struct fuse_shared {
    uint32_t tensor;
    uint32_t memory;
    uint32_t depth; /* 0 if persistent */
    bool persistent;
    uint32_t above;        /* set of the loops above it */
    const uint32_t *ranks; /* per variable: the tensor's rank */
    const double *sizes;   /* per row; of a copy, what its tensors in one buffer take */
};

struct fuse_piece {
    uint32_t einsum;
    uint32_t group; /* among those of the Einsum */
    uint32_t rows;
    uint32_t loop_count;
    const struct fuse_loop *loops;
    uint32_t before[FUSE_MAX_LOOPS]; /* sets of loops that are further out in any order */
    struct fuse_shared *shared;
    double *merged; /* sizes of a copy, or NULL */
    uint32_t shared_count;
    const double *objectives;
    uint32_t *laps; /* rows * loop_count */
    uint64_t *keys; /* rows * shared_count */
    /* Per row: what each tracked memory holds while the Einsum runs; then, for each of them and
     * each depth 0 to loop_count, what is not fused and held above that depth. */
    double *loads;
    uint32_t first_row; /* number of its first row among all of the Einsum */
    uint32_t *kept;     /* numbers of the rows that may be part of a result, ascending */
    uint32_t kept_count;
};

struct fuse_pieces {
    const struct fuse_tables *tables;
    struct fuse_tensor *tensors;
    struct fuse_piece *pieces;
    uint32_t piece_count;
    uint32_t *piece_bases;               /* per Einsum, and the end */
    uint32_t *access_bases;              /* per Einsum, and the end: of the tables */
    uint32_t tracked[FUSE_MAX_MEMORIES]; /* memory -> number among those tracked, or FUSE_NONE */
    uint32_t memories[FUSE_MAX_MEMORIES];
    uint32_t tracked_count;
    struct fuse_map laps;
    /* Per Einsum and tracked memory, the largest: of all that it holds while it runs; of what it
     * holds above its innermost fused loop; of what it holds as long as the workload lives. */
    double *most_own;
    double *most_above;
    double *most_always;
};

/* How many numbers `loads` has per row. */
static inline size_t fuse_load_width(const struct fuse_pieces *pieces, uint32_t loop_count)
{
    return (size_t)pieces->tracked_count * (loop_count + 2);
}

/* True if several Einsums use the tensor. */
static inline bool fuse_is_fused(const struct fuse_pieces *pieces, uint32_t tensor)
{
    return pieces->tensors[tensor].first != pieces->tensors[tensor].last;
}

/*
 * Prepares checked TABLES, which must outlive PIECES. Memories that can hold everything at once are
 * not tracked unless ALL_MEMORIES. PIECES is released by fuse_pieces_clear(), also after a failure,
 * which FAULT describes.
 */
enum fuse_status fuse_pieces_build(struct fuse_pieces *pieces, const struct fuse_tables *tables,
                                   bool all_memories, struct fuse_fault *fault);
void fuse_pieces_clear(struct fuse_pieces *pieces);

#endif
