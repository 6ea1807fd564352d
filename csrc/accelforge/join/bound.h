/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bound.h: what Einsums that are not joined yet cost at least, and what is too much.
 *
 * The bound lets go of capacities, and of all shared tensors but one per Einsum, by which it hangs
 * on the last Einsum before that uses it. What is left is a forest, for which the least of each
 * objective is known exactly for each key.
 */
#ifndef OFFCHIP_FUSE_BOUND_H
#define OFFCHIP_FUSE_BOUND_H

#include "accelforge/join/pieces.h"

struct fuse_branch {
    uint32_t tensor; /* what the Einsum hangs by, or FUSE_NONE */
    uint32_t parent; /* the Einsum that it hangs on */
    struct fuse_map keys;
    double *least; /* per key and objective; of the Einsum and all that hangs on it */
    size_t room;
};

struct fuse_bound {
    const struct fuse_pieces *pieces;
    struct fuse_branch *branches; /* per Einsum */
};

/* BOUND is released by fuse_bound_clear(), also if memory runs out, which is the only failure. */
bool fuse_bound_build(struct fuse_bound *bound, const struct fuse_pieces *pieces);
void fuse_bound_clear(struct fuse_bound *bound);

/*
 * Adds to COSTS, one number per objective, what the Einsums after DONE others (all if it is 0) cost
 * at least. KEYS has the key of each tensor that is used before and after, by tensor. False if
 * none of their pmappings fit.
 */
bool fuse_bound_rest(const struct fuse_bound *bound, uint32_t done, const uint64_t *keys,
                     double *costs);

#endif
