/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem.h: an architecture, a workload and a mapping as flat tables.
 *
 * It is what docs/design/accelforge.md describes, with names replaced by indices and every number
 * moved into one array of doubles, the *values*. A field that is called a value below is an index
 * into it, so that a batch changes numbers and nothing else. All records consist of uint32_t:
 * a binding hands over its tables as they are.
 *
 * Spans are ranges of a table. An index into a table that a span selects counts from the start of
 * the span: a term's `variable` is a position among the variables of its Einsum.
 *
 * Nothing here is owned or changed by the functions; forge_model_create() copies what it needs.
 */
#ifndef OFFCHIP_FORGE_PROBLEM_H
#define OFFCHIP_FORGE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accelforge/model/status.h"

/* No table has more records, and no Einsum more steps. */
#define FORGE_MAX_RECORDS (UINT32_C(1) << 22)
#define FORGE_MAX_EINSUMS UINT32_C(4096)
#define FORGE_MAX_STEPS UINT32_C(1024)
#define FORGE_MAX_TENSORS UINT32_C(256)
#define FORGE_MAX_STACK 64

/* X(name, lower bound, whether the bound itself is allowed, whether infinity is) */
#define FORGE_NUMBERS(X) \
    X(BOUND, 1.0, true, false)     /* of a rank variable */ \
    X(POSITIVE, 0.0, false, false) /* tiles, fan-outs, values per action */ \
    X(AMOUNT, 0.0, true, false)    /* energies, areas, powers, scales */ \
    X(CAPACITY, 0.0, true, true)   /* sizes of memories */ \
    X(RATE, 0.0, false, true)      /* throughputs */ \
    X(ANY, -1.0e300, true, false)  /* coefficients, constants of formulas */

enum forge_number {
#define X(name, lower, inclusive, infinite) FORGE_##name,
    FORGE_NUMBERS(X)
#undef X
        FORGE_NUMBER_COUNT
};

enum forge_level_kind { FORGE_MEMORY, FORGE_TOLL, FORGE_COMPUTE, FORGE_CONTAINER };

enum forge_step_kind { FORGE_HOLD, FORGE_TEMPORAL, FORGE_SPATIAL, FORGE_LEAF };

/* X(name, operands): words of a latency formula. */
#define FORGE_WORDS(X) \
    X(NUMBER, 0)     /* pushes the value `argument` */ \
    X(CALLS, 0)      /* pushes the calls of the level's action `argument`, of one instance */ \
    X(THROUGHPUT, 0) /* pushes its throughput */ \
    X(ENERGY, 0)     /* pushes its energy */ \
    X(ADD, 2) \
    X(SUBTRACT, 2) \
    X(MULTIPLY, 2) \
    X(DIVIDE, 2) \
    X(MINIMUM, 2) \
    X(MAXIMUM, 2) \
    X(POWER, 2) \
    X(FLOOR_DIVIDE, 2) \
    X(MODULO, 2) \
    X(NEGATE, 1) \
    X(CEIL, 1) \
    X(FLOOR, 1) \
    X(SQRT, 1) \
    X(EXP, 1) \
    X(LOG, 1) \
    X(ABS, 1)

enum forge_word {
#define X(name, operands) FORGE_WORD_##name,
    FORGE_WORDS(X)
#undef X
        FORGE_WORD_COUNT
};

struct forge_span {
    uint32_t first;
    uint32_t count;
};

struct forge_component {
    uint32_t area;       /* value: m^2 of one instance */
    uint32_t leak_power; /* value: W of one instance */
    uint32_t instances;  /* value */
};

struct forge_variable {
    uint32_t bound; /* value */
};

struct forge_term {
    uint32_t variable;
    uint32_t coefficient; /* value */
};

struct forge_rank {
    struct forge_span terms;
    uint32_t constant; /* value, or FORGE_NONE */
};

struct forge_tensor {
    uint32_t id; /* the same for one tensor in several Einsums; below tensor_count */
    uint32_t output;
    struct forge_span ranks;
};

struct forge_dimension {
    uint32_t fanout;         /* value */
    uint32_t usage_scale;    /* value */
    struct forge_span reuse; /* indices: tensors of the Einsum */
};

struct forge_action {
    uint32_t energy;     /* value */
    uint32_t throughput; /* value */
};

struct forge_holding {
    uint32_t tensor;
    uint32_t bits;   /* value: bits per value */
    uint32_t reads;  /* value: values per read; infinite if they have no bits */
    uint32_t writes; /* value: values per write */
    uint32_t up;     /* traffic to the parent is charged */
    uint32_t down;
};

struct forge_token {
    uint32_t word; /* enum forge_word */
    uint32_t argument;
};

struct forge_level {
    uint32_t kind; /* enum forge_level_kind */
    uint32_t component;
    uint32_t size; /* value */
    uint32_t skip_initial;
    uint32_t actions_scale; /* value */
    struct forge_span actions;
    uint32_t read; /* action of that name, or FORGE_NONE */
    uint32_t write;
    uint32_t compute;
    struct forge_span formula; /* tokens; empty: the sum of calls / throughput */
    struct forge_span dimensions;
    struct forge_span holdings;
};

struct forge_gate {
    uint32_t level;
    uint32_t dimension;
};

struct forge_leak {
    uint32_t component;
    uint32_t power; /* value: W of all instances; FORGE_NONE: leak_power * instances */
    uint32_t share; /* value */
    struct forge_span gates;
};

/* A node on the way from the root of the mapping to the leaf of one Einsum. */
struct forge_step {
    uint32_t kind;     /* enum forge_step_kind */
    uint32_t node;     /* the same number in each Einsum that is below the node */
    uint32_t level;    /* of a holder, of a spatial loop's fan-out, of the leaf */
    uint32_t variable; /* of a loop */
    uint32_t tile;     /* value */
    uint32_t initial;  /* value, or FORGE_NONE */
    uint32_t dimension;
    uint32_t persistent;
    struct forge_span tensors; /* indices: tensors of the Einsum that a holder holds */
};

struct forge_einsum {
    uint32_t n_instances; /* value */
    uint32_t copy;
    struct forge_span variables;
    struct forge_span tensors;
    struct forge_span levels; /* root first; the compute last */
    struct forge_span leaks;
    struct forge_span steps; /* outermost first; the leaf last */
};

/* X(record, table) */
#define FORGE_TABLES(X) \
    X(component, components) \
    X(einsum, einsums) \
    X(variable, variables) \
    X(tensor, tensors) \
    X(rank, ranks) \
    X(term, terms) \
    X(level, levels) \
    X(dimension, dimensions) \
    X(action, actions) \
    X(holding, holdings) \
    X(token, tokens) \
    X(leak, leaks) \
    X(gate, gates) \
    X(step, steps)

struct forge_problem {
#define X(record, table) \
    const struct forge_##record *table; \
    size_t record##_count;
    FORGE_TABLES(X)
#undef X
    const uint32_t *indices;
    size_t index_count;
    const double *values;
    const uint8_t *numbers; /* enum forge_number of each value */
    size_t value_count;
    uint32_t tensor_ids;  /* number of different tensors */
    uint32_t n_instances; /* value */
};

/* True if X may be a number of that kind. */
bool forge_number_fits(enum forge_number kind, double x);

/*
 * Checks every index, span, kind and number: after FORGE_OK the other functions can follow any of
 * them. Any bytes may be given as records. Says in FAULT (may not be NULL) what is wrong.
 */
enum forge_status forge_problem_check(const struct forge_problem *problem,
                                      struct forge_fault *fault);

#endif
