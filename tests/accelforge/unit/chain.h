/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the accelforge engine: a chain of matrix products
 * T<i+1>[m, b] = T<i>[m, a] * W<i>[a, b] with all bounds alike, on a main memory, a buffer and a
 * compute. Reads cost 1 J, writes 2 J, operations 1 J; an action is one value, a value 8 bits, and
 * all throughputs are 1 per second.
 *
 * In the fused chain all T but the first and the last are in the buffer, below a loop over m that
 * all Einsums share; in the other one everything is in the main memory first.
 */
#ifndef OFFCHIP_TESTS_FORGE_CHAIN_H
#define OFFCHIP_TESTS_FORGE_CHAIN_H

#include <string.h>

#include "accelforge/model/problem.h"
#include "tests/support/check.h"

enum { CHAIN_MOST = 8, CHAIN_ROOM = 512 };
enum { MAIN_MEMORY, BUFFER, MAC, CHAIN_LEVELS };
enum { VARIABLE_M, VARIABLE_A, VARIABLE_B };

struct chain {
    struct forge_problem problem;
    struct forge_component components[CHAIN_LEVELS];
    struct forge_einsum einsums[CHAIN_MOST];
    struct forge_variable variables[3 * CHAIN_MOST];
    struct forge_tensor tensors[3 * CHAIN_MOST];
    struct forge_rank ranks[6 * CHAIN_MOST];
    struct forge_term terms[6 * CHAIN_MOST];
    struct forge_level levels[CHAIN_LEVELS * CHAIN_MOST];
    struct forge_dimension dimensions[1];
    struct forge_action actions[5];
    struct forge_holding holdings[3];
    struct forge_token tokens[1];
    struct forge_leak leaks[1];
    struct forge_gate gates[1];
    struct forge_step steps[CHAIN_ROOM];
    uint32_t indices[CHAIN_ROOM];
    double values[64];
    uint8_t numbers[64];
    /* Values that tests change. */
    uint32_t bound;
    uint32_t buffer_bits;
    uint32_t tile; /* of the outer loop over m */
    uint32_t read_energy;
};

static inline uint32_t chain_value(struct chain *chain, enum forge_number kind, double x)
{
    size_t i = chain->problem.value_count++;
    CHECK(i < 64);
    chain->values[i] = x;
    chain->numbers[i] = (uint8_t)kind;
    return (uint32_t)i;
}

static inline void chain_step(struct chain *chain, struct forge_step step)
{
    CHECK(chain->problem.step_count < CHAIN_ROOM);
    chain->steps[chain->problem.step_count++] = step;
}

/* A holder of those of the three tensors of an Einsum whose bits are set. */
static inline void chain_hold(struct chain *chain, uint32_t node, uint32_t level, unsigned tensors)
{
    struct forge_span span = {(uint32_t)chain->problem.index_count, 0};
    for (uint32_t t = 0; t < 3; t++)
        if (tensors >> t & 1) {
            CHECK(chain->problem.index_count < CHAIN_ROOM);
            chain->indices[chain->problem.index_count++] = t;
            span.count++;
        }
    if (span.count > 0)
        chain_step(chain, (struct forge_step){.kind = FORGE_HOLD,
                                              .node = node,
                                              .level = level,
                                              .initial = FORGE_NONE,
                                              .tensors = span});
}

static inline void chain_loop(struct chain *chain, uint32_t node, uint32_t variable, uint32_t tile)
{
    chain_step(chain, (struct forge_step){.kind = FORGE_TEMPORAL,
                                          .node = node,
                                          .variable = variable,
                                          .tile = tile,
                                          .initial = FORGE_NONE});
}

/* The mapping of Einsum E: T in, W, T out are the tensors 0, 1 and 2. */
static inline struct forge_span chain_steps(struct chain *chain, uint32_t e, uint32_t count,
                                            bool fused, uint32_t one)
{
    uint32_t first = (uint32_t)chain->problem.step_count;
    uint32_t own = 100 * (e + 1);
    unsigned inside = fused ? (e > 0 ? 1u : 0u) | (e + 1 < count ? 4u : 0u) : 0u;

    chain_hold(chain, 1, MAIN_MEMORY, 7u & ~inside);
    chain_loop(chain, fused ? 2 : own, VARIABLE_M, chain->tile);
    chain_hold(chain, 3, BUFFER, inside);
    chain_hold(chain, own + 1, BUFFER, 7u & ~inside);
    chain_loop(chain, own + 2, VARIABLE_M, one);
    chain_loop(chain, own + 3, VARIABLE_A, one);
    chain_loop(chain, own + 4, VARIABLE_B, one);
    chain_step(chain, (struct forge_step){.kind = FORGE_LEAF, .level = MAC, .initial = FORGE_NONE});
    return (struct forge_span){first, (uint32_t)chain->problem.step_count - first};
}

static inline void chain_tensor(struct chain *chain, uint32_t id, bool output, uint32_t x,
                                uint32_t y, uint32_t one)
{
    struct forge_problem *p = &chain->problem;
    chain->tensors[p->tensor_count++] =
        (struct forge_tensor){id, output, {(uint32_t)p->rank_count, 2}};
    for (int i = 0; i < 2; i++) {
        chain->ranks[p->rank_count++] =
            (struct forge_rank){{(uint32_t)p->term_count, 1}, FORGE_NONE};
        chain->terms[p->term_count++] = (struct forge_term){i == 0 ? x : y, one};
    }
}

static inline void chain_einsum(struct chain *chain, uint32_t e, uint32_t count, bool fused)
{
    struct forge_problem *p = &chain->problem;
    uint32_t any_one = 0, unit_tile = 1, instances = 2, scale = 3, infinite = 4;
    struct forge_einsum *einsum = &chain->einsums[e];

    *einsum = (struct forge_einsum){
        .n_instances = instances,
        .variables = {3 * e, 3},
        .tensors = {3 * e, 3},
        .levels = {CHAIN_LEVELS * e, CHAIN_LEVELS},
    };
    for (int i = 0; i < 3; i++)
        chain->variables[p->variable_count++].bound = chain->bound;
    chain_tensor(chain, 2 * e, false, VARIABLE_M, VARIABLE_A, any_one);
    chain_tensor(chain, 2 * e + 1, false, VARIABLE_A, VARIABLE_B, any_one);
    chain_tensor(chain, 2 * e + 2, true, VARIABLE_M, VARIABLE_B, any_one);

    for (uint32_t l = 0; l < CHAIN_LEVELS; l++)
        chain->levels[p->level_count++] = (struct forge_level){
            .kind = l == MAC ? FORGE_COMPUTE : FORGE_MEMORY,
            .component = l,
            .size = l == BUFFER ? chain->buffer_bits : infinite,
            .skip_initial = 1,
            .actions_scale = scale,
            .actions = {2 * l, l == MAC ? 1 : 2},
            .read = l == MAC ? FORGE_NONE : 0,
            .write = l == MAC ? FORGE_NONE : 1,
            .compute = l == MAC ? 0 : FORGE_NONE,
            .holdings = {0, l == MAC ? 0 : 3},
        };
    einsum->steps = chain_steps(chain, e, count, fused, unit_tile);
}

/* COUNT Einsums of BOUND^3 operations; the outer loop over m has tiles of TILE. */
static inline void chain_build(struct chain *chain, uint32_t count, bool fused, double bound,
                               double tile, double buffer_bits)
{
    CHECK(count <= CHAIN_MOST);
    memset(chain, 0, sizeof *chain);
    struct forge_problem *p = &chain->problem;
#define X(record, table) p->table = chain->table;
    FORGE_TABLES(X)
#undef X
    p->indices = chain->indices;
    p->values = chain->values;
    p->numbers = chain->numbers;

    /* chain_einsum() knows these five. */
    chain_value(chain, FORGE_ANY, 1);
    chain_value(chain, FORGE_POSITIVE, 1);
    p->n_instances = chain_value(chain, FORGE_POSITIVE, 1);
    uint32_t scale = chain_value(chain, FORGE_AMOUNT, 1);
    chain_value(chain, FORGE_CAPACITY, __builtin_inf());

    chain->bound = chain_value(chain, FORGE_BOUND, bound);
    chain->tile = chain_value(chain, FORGE_POSITIVE, tile);
    chain->buffer_bits = chain_value(chain, FORGE_CAPACITY, buffer_bits);
    chain->read_energy = chain_value(chain, FORGE_AMOUNT, 1);
    uint32_t write_energy = chain_value(chain, FORGE_AMOUNT, 2);
    uint32_t bits = chain_value(chain, FORGE_AMOUNT, 8);
    uint32_t rate = chain_value(chain, FORGE_RATE, 1);

    p->component_count = CHAIN_LEVELS;
    for (int i = 0; i < CHAIN_LEVELS; i++)
        chain->components[i] = (struct forge_component){scale, scale, 1};
    p->action_count = 5;
    for (int i = 0; i < 5; i++)
        chain->actions[i] =
            (struct forge_action){i % 2 == 0 ? chain->read_energy : write_energy, rate};
    p->holding_count = 3;
    for (uint32_t t = 0; t < 3; t++)
        chain->holdings[t] = (struct forge_holding){t, bits, rate, rate, 1, 1};

    p->einsum_count = count;
    p->tensor_ids = 2 * count + 1;
    for (uint32_t e = 0; e < count; e++)
        chain_einsum(chain, e, count, fused);
}

#endif
