/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filter.h: rows that cannot be part of any result are dropped before anything is joined.
 */
#ifndef OFFCHIP_FUSE_FILTER_H
#define OFFCHIP_FUSE_FILTER_H

#include "accelforge/join/pieces.h"

/*
 * Keeps the rows whose keys occur in all Einsums that use the tensor, until nothing changes.
 * FUSE_NOTHING_JOINS if an Einsum keeps none: FAULT names it.
 */
enum fuse_status fuse_filter_keys(struct fuse_pieces *pieces, struct fuse_fault *fault);

/*
 * Drops rows of a group that another one with equal laps dominates, as it may do if memories are
 * not tracked, or if numbers that are alike but for a factor of 1 + tolerance are equal.
 */
enum fuse_status fuse_filter_alike(struct fuse_pieces *pieces, double objective_tolerance,
                                   double usage_tolerance);

#endif
