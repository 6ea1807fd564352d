/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h: a problem compiled for evaluation with many sets of values.
 *
 * A model owns copies of all it needs. It is not changed by an evaluation, so that any number of
 * threads may evaluate one model, each with its own scratch. Evaluations do not allocate.
 *
 * A result is a row of doubles, one per column. Each column has a kind and says with indices into
 * the problem what it is about. The totals come first.
 */
#ifndef OFFCHIP_FORGE_MODEL_H
#define OFFCHIP_FORGE_MODEL_H

#include "accelforge/model/count.h"
#include "accelforge/model/join.h"
#include "accelforge/model/plan.h"

/*
 * X(name, is_objective): the first columns of every row, and whether a search can minimise them,
 * which those that it can come first for. accelforge/_problem/totals.py has units and parts.
 */
#define FORGE_TOTALS(X) \
    X(ENERGY, true) \
    X(LATENCY, true) \
    X(DYNAMIC_ENERGY, true) \
    X(LEAK_ENERGY, true) \
    X(ENERGY_DELAY_PRODUCT, false)

enum forge_total {
#define X(name, is_objective) FORGE_TOTAL_##name,
    FORGE_TOTALS(X)
#undef X
        FORGE_TOTAL_COUNT,
#define X(name, is_objective) +(is_objective)
    FORGE_OBJECTIVES = 0 FORGE_TOTALS(X)
#undef X
};

#define X(name, is_objective) \
    _Static_assert((is_objective) == (FORGE_TOTAL_##name < FORGE_OBJECTIVES), \
                   "objectives come before other totals");
FORGE_TOTALS(X)
#undef X

enum forge_column_kind {
    FORGE_COLUMN_TOTAL,         /* detail: enum forge_total */
    FORGE_COLUMN_RESERVATION,   /* component: share of its size, the largest over time */
    FORGE_COLUMN_AREA,          /* component */
    FORGE_COLUMN_LEAK_POWER,    /* component */
    FORGE_COLUMN_USAGE_SPATIAL, /* einsum, component, level; detail: dimension */
    FORGE_COLUMN_USAGE_MEMORY,  /* einsum, component, level, tensor */
    FORGE_COLUMN_ACTION,        /* einsum, component, level, tensor; detail: enum forge_access */
    FORGE_COLUMN_ENERGY,        /* the same, or a leak */
    FORGE_COLUMN_LATENCY,       /* einsum, component, level */
    FORGE_COLUMN_LATENCY_EINSUM /* einsum */
};

enum forge_access { FORGE_READ, FORGE_WRITE, FORGE_COMPUTES, FORGE_LEAKS };

struct forge_column {
    uint32_t kind; /* enum forge_column_kind */
    uint32_t einsum;
    uint32_t component;
    uint32_t level;
    uint32_t tensor;
    uint32_t detail;
};

/* Where the columns of an Einsum begin. */
struct forge_columns_of_einsum {
    uint32_t usage_spatial;
    uint32_t usage_memory;
    uint32_t actions; /* read and write of each shown holder, then compute */
    uint32_t energies;
    uint32_t leaks;
    uint32_t latencies;
    uint32_t latency;
};

struct forge_model {
    struct forge_problem problem; /* our own copies of the tables */
    struct forge_plan *plans;     /* one per Einsum */
    uint32_t plan_count;
    uint32_t *holder_bases;
    uint32_t *loop_bases;
    uint32_t holder_total;
    uint32_t loop_total;
    struct forge_join join;
    struct forge_columns_of_einsum *places;
    struct forge_column *columns;
    uint32_t column_count;
    /* Sizes that a scratch needs room for. */
    uint32_t most_loops;
    uint32_t most_holders;
    uint32_t most_levels;
    uint32_t most_dimensions;
    uint32_t most_actions;
    uint32_t most_variables;
};

struct forge_scratch; /* what one thread works in */

/*
 * Checks PROBLEM and makes a model of it. *MODEL is NULL after a failure, which FAULT describes;
 * otherwise it is released by forge_model_destroy(). No argument may be NULL.
 */
enum forge_status forge_model_create(struct forge_model **model,
                                     const struct forge_problem *problem,
                                     struct forge_fault *fault);
void forge_model_destroy(struct forge_model *model); /* NULL is allowed */

/* Scratch for evaluations of MODEL, which must outlive it; NULL if out of memory. */
struct forge_scratch *forge_scratch_create(const struct forge_model *model);
void forge_scratch_destroy(struct forge_scratch *scratch); /* NULL is allowed */

/*
 * Evaluates MODEL with VALUES, an array like that of the problem; NULL: those of the problem. Sets
 * all column_count numbers of ROW; of an invalid mapping they are NaN, and FAULT says why. Only the
 * kinds of numbers that fit (forge_number_fits()) may be in VALUES.
 */
enum forge_status forge_model_evaluate(const struct forge_model *model,
                                       struct forge_scratch *scratch, const double *values,
                                       double *row, struct forge_fault *fault);

#endif
