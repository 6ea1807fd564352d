/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incumbents.h: known mappings of the whole workload, which pmappings of one Einsum must be able to
 * compete with.
 */
#ifndef OFFCHIP_FORGE_INCUMBENTS_H
#define OFFCHIP_FORGE_INCUMBENTS_H

#include "accelforge/search/space.h"

/*
 * A pmapping is pruned if an incumbent is better than all mappings with it: in nothing worse, and
 * in something clearly better. What it costs is added to what the other Einsums cost at least.
 */
struct forge_incumbents {
    const double *points; /* FORGE_OBJECTIVES per incumbent; those not compared mean nothing */
    size_t count;         /* 0: nothing is pruned */
    double rest[FORGE_OBJECTIVES]; /* what the other Einsums cost at least */
    bool compared[FORGE_OBJECTIVES];
    bool product;      /* energy times latency is compared, too */
    const double *low; /* FORGE_OBJECTIVES per template, from an earlier search, or NULL */
    size_t low_count;  /* templates */
    /* Like REST, per template, beside which the other Einsums cannot be as they like; or NULL: */
    const double *rests;
};

/* Those for a template of COUNT, by what an earlier search knows. */
struct forge_incumbents forge_incumbents_of_template(const struct forge_incumbents *incumbents,
                                                     size_t t, size_t count);

/* True if an incumbent is better than all pmappings that cost at least LOW. */
bool forge_incumbents_beat(const struct forge_incumbents *incumbents, const double *low);

/* The same for all pmappings of a template of COUNT, by what an earlier search knows. */
bool forge_incumbents_beat_template(const struct forge_incumbents *incumbents, size_t t,
                                    size_t count);

#endif
