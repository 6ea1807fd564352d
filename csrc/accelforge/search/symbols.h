/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.h: the tiles of a template that are to be found, and what is needed while goals are made.
 */
#ifndef OFFCHIP_FORGE_SYMBOLS_H
#define OFFCHIP_FORGE_SYMBOLS_H

#include "accelforge/search/goals.h"

/* State while goals are made. */
struct forge_making {
    struct forge_goals *goals;
    struct forge_ring *ring;
    const struct forge_templates *templates;
    const struct forge_space *space;
    const struct forge_template *template;
    const struct forge_plan *plan;
    const bool *repeats;
    struct forge_monomial *means; /* by loop: iterations */
    struct forge_monomial *wholes;
    struct forge_polynomial *reads; /* by holder, all instances */
    struct forge_polynomial *writes;
    struct forge_polynomial *unit_reads; /* by holder, one instance */
    struct forge_polynomial *unit_writes;
    struct forge_polynomial *reserved; /* by holder, bits */
    double instances;
};

static inline double forge_making_value(const struct forge_making *m, uint32_t i)
{
    return m->space->problem.values[i];
}

/* Of a rank variable. */
static inline double forge_bound_of(const struct forge_making *m, uint32_t variable)
{
    const struct forge_einsum *einsum = forge_space_einsum(m->space);
    return forge_making_value(
        m, m->space->problem.variables[einsum->variables.first + variable].bound);
}

/* Numbers the symbols. */
enum forge_status forge_symbols_number(struct forge_making *m);

/* Notes the iterations of each loop; false if out of memory. */
bool forge_symbols_iterations(struct forge_making *m);

/* The extent of a tile as a factor, to the power of SIGN. */
void forge_times_tile(const struct forge_making *m, struct forge_monomial *product, uint32_t loop,
                      int sign);

/* True if loop L of a plan has a tile that is to be found. */
bool forge_symbols_is_free(const struct forge_space *space, const struct forge_plan *plan,
                           uint32_t l);

#endif
