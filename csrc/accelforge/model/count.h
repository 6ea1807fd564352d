/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count.h: how often each holder of one Einsum is read and written.
 *
 * Counts of a tensor are built from the compute outwards. What a holder exchanges with its parent
 * is multiplied by the loops between the two; a spatial loop that is irrelevant to the tensor, and
 * whose fan-out may reuse it, does not multiply it: the data is multicast on the way down and
 * reduced on the way up. The first read of a partial sum is not done, once per tile of the output.
 */
#ifndef OFFCHIP_FORGE_COUNT_H
#define OFFCHIP_FORGE_COUNT_H

#include "accelforge/model/plan.h"

/* The numbers of one loop. */
struct forge_pace {
    double tile;
    double mean;  /* iterations: enclosing extent / tile */
    double whole; /* the same as tensors see it that the loop is irrelevant to */
};

/* Actions, in total and of one instance. */
struct forge_traffic {
    double reads;
    double writes;
    double unit_reads;
    double unit_writes;
    double reserved; /* bits */
};

/* Sets the pace of each loop of PLAN. VARIABLES are those of the Einsum. */
void forge_set_paces(const struct forge_plan *plan, const struct forge_variable *variables,
                     const double *values, struct forge_pace *paces);

/* Computes in total, and one after the other in one instance. */
struct forge_computes {
    double total;
    double steps;
};
struct forge_computes forge_count_computes(const struct forge_plan *plan,
                                           const struct forge_pace *paces);

/*
 * Sets the traffic of each holder; of a copy, that of the shown holders is what the tensors of
 * their level have in common. HOLDINGS is the problem's table; PREFIXES is scratch space for
 * 3 * (loop_count + 1) numbers.
 */
void forge_count_traffic(const struct forge_plan *plan, const struct forge_variable *variables,
                         const struct forge_holding *holdings, const double *values,
                         const struct forge_pace *paces, double *prefixes,
                         struct forge_traffic *traffic);

#endif
