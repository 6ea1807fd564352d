/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pareto.h: the points of a set that no other point dominates.
 *
 * One point dominates another if no number of it is larger and one is smaller; of equal points the
 * one that was added first stays. What remains does not depend on when the set is reduced.
 */
#ifndef OFFCHIP_FUSE_PARETO_H
#define OFFCHIP_FUSE_PARETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuse_front {
    uint32_t width;    /* numbers per point */
    uint32_t compared; /* the first ones; the others are only kept */
    double *numbers;   /* count * width, in the order of addition until they are reduced */
    uint64_t *tags;    /* of the caller */
    size_t count;
    size_t reduced; /* the first ones, which are in order and dominate none of each other */
    size_t numbers_room;
    size_t tags_room;
    /* Room to sort and to sift in. */
    uint32_t *order;
    size_t order_room;
    bool *dropped;
    size_t dropped_room;
    double *sifted;
    size_t sifted_room;
    double *moved;
    size_t moved_room;
    uint64_t *moved_tags;
    size_t moved_tags_room;
};

/*
 * Empties a front, which is for points of WIDTH numbers from now on, the first COMPARED of which
 * count. {0} is an empty front.
 */
void fuse_front_reset(struct fuse_front *front, uint32_t width, uint32_t compared);

/* Adds a point; false: out of memory. */
bool fuse_front_add(struct fuse_front *front, const double *numbers, uint64_t tag);

/*
 * Rounds numbers to 40 binary digits: sums of the same numbers in another order become equal, but
 * for a few that are rounded to neighbours.
 */
void fuse_snap(double *numbers, uint32_t count);

/* Drops what is dominated; the rest is in lexicographic order. False: out of memory. */
bool fuse_front_reduce(struct fuse_front *front);

/* True if a point that was there at the last reduction is at least as good in all numbers. It
 * looks at a few only: false says nothing. */
bool fuse_front_covers(const struct fuse_front *front, const double *numbers);

static inline uint64_t fuse_front_tag(const struct fuse_front *front, size_t i)
{
    return front->tags[i];
}

void fuse_front_clear(struct fuse_front *front);

#endif
