/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pareto.h: which rows of numbers are better than others in nothing.
 */
#ifndef OFFCHIP_FORGE_PARETO_H
#define OFFCHIP_FORGE_PARETO_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers that differ by less than this part are equal. */
#define FORGE_ROUNDING 1e-12

/* True if A is at most B, up to rounding and TOLERANCE (a part of B). */
static inline bool forge_at_most(double a, double b, double tolerance)
{
    return a <= b + (b < 0 ? -b : b) * (FORGE_ROUNDING + tolerance);
}

/*
 * Keeps those of COUNT rows of WIDTH numbers, where less is better, that no other row is as good
 * as. KEPT gets their numbers, in rising order; of equal rows the first is kept. TOLERANCES (NULL:
 * none) has the part by which a row may be worse and is still dropped, per number. SCRATCH has
 * room for COUNT numbers. Returns how many are kept.
 */
uint32_t forge_pareto(const double *rows, uint32_t count, uint32_t width, const double *tolerances,
                      uint32_t *kept, uint32_t *scratch);

#endif
