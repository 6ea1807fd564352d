/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stages.h: goals of which more and more symbols are known.
 *
 * At stage k the symbols below k are known. The terms of a goal whose unknown parts are alike are
 * one *group*: its value is the sum of their known parts. A goal is then the sum over its groups
 * of value times unknown part, and what a choice of tiles is worth later depends on these values
 * alone. Of two choices that have the same tiles where later ones must fit, one is as good as the
 * other if each of its values is at most the other's: these values are the *criteria*.
 */
#ifndef OFFCHIP_FORGE_STAGES_H
#define OFFCHIP_FORGE_STAGES_H

#include "accelforge/search/goals.h"

/* No symbol has a power beyond this, or below its negative. */
#define FORGE_MOST_POWER 12

/* A factor of a bound: the tile of a variable that was chosen last, to a power. */
struct forge_bound_factor {
    uint32_t variable;
    int32_t power;
};

/* Bound of the unknown part of a group: a constant times some factors. */
struct forge_unknown {
    double constant;
    struct forge_span factors;
};

struct forge_group {
    uint32_t goal;
    uint32_t next;   /* the group at the next stage that this one becomes part of */
    int16_t power;   /* of the next symbol */
    int16_t rounded; /* of its second symbol */
    struct forge_unknown least;
    struct forge_unknown most;
    /* Of what is subtracted: another group of the goal, of which it is a part, or FORGE_NONE; and
     * how many times as large its unknown part is at most. */
    struct forge_unknown ratio;
    uint32_t above;
};

/* A goal, of which the groups are a range. */
struct forge_stage_goal {
    struct forge_span groups;
    bool complete;
    bool touched; /* by the symbol that became known last */
    bool differs; /* something is subtracted from a group */
};

struct forge_criterion {
    uint32_t group;
    bool negative; /* more is better */
};

struct forge_stage {
    struct forge_group *groups;
    uint32_t group_count;
    struct forge_stage_goal *goals;
    struct forge_criterion *criteria;
    uint32_t criterion_count;
    bool latency;   /* the largest complete latency is a criterion too */
    uint64_t keys;  /* known symbols that must be equal for a comparison */
    uint32_t *last; /* by variable: the outermost known symbol, or FORGE_NONE */
};

struct forge_stages {
    const struct forge_goals *goals;
    struct forge_stage *list; /* symbol_count + 1 */
    struct forge_bound_factor *factors;
    uint32_t factor_count;
    size_t factor_room;
    double *first; /* the values of the groups at stage 0 */
    uint32_t most_groups;
};

enum forge_status forge_stages_make(struct forge_stages *stages, struct forge_arena *arena,
                                    const struct forge_goals *goals, uint32_t variable_count);

#endif
