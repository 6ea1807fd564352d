/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * The accelforge engine: counts and reservations that can be checked by hand, capacity, damaged
 * tables, and memory that runs out.
 */
#include "accelforge/model/model.h"

#include <math.h>
#include <stdlib.h>

#include "accelforge/model/batch.h"
#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"
#include "chain.h"

/* --- evaluations --- */

struct evaluation {
    struct forge_model *model;
    struct forge_scratch *scratch;
    double *row;
    enum forge_status status;
    struct forge_fault fault;
};

static struct evaluation evaluate(const struct chain *chain)
{
    struct evaluation e = {0};
    CHECK(forge_model_create(&e.model, &chain->problem, &e.fault) == FORGE_OK);
    e.scratch = forge_scratch_create(e.model);
    CHECK(e.scratch != NULL);
    e.row = calloc(e.model->column_count, sizeof(double));
    CHECK(e.row != NULL);
    e.status = forge_model_evaluate(e.model, e.scratch, NULL, e.row, &e.fault);
    CHECK(e.status == e.fault.status);
    return e;
}

static void release(struct evaluation *e)
{
    forge_scratch_destroy(e->scratch);
    forge_model_destroy(e->model);
    free(e->row);
}

/* The number of the column that is about these; FORGE_NONE matches all. */
static double find(const struct evaluation *e, enum forge_column_kind kind, uint32_t einsum,
                   uint32_t component, uint32_t tensor, uint32_t detail)
{
    for (uint32_t i = 0; i < e->model->column_count; i++) {
        const struct forge_column *column = &e->model->columns[i];
        if (column->kind == kind && (einsum == FORGE_NONE || column->einsum == einsum) &&
            (component == FORGE_NONE || column->component == component) &&
            (tensor == FORGE_NONE || column->tensor == tensor) &&
            (detail == FORGE_NONE || column->detail == detail))
            return e->row[i];
    }
    CHECK(!"there is no such column");
    return 0;
}

static void require_close(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-9 * (1 + fabs(wanted)))) {
        fprintf(stderr, "found %.17g, wanted %.17g\n", found, wanted);
        abort();
    }
}

static double action(const struct evaluation *e, uint32_t component, uint32_t tensor,
                     enum forge_access access)
{
    return find(e, FORGE_COLUMN_ACTION, 0, component, tensor, access);
}

/*
 * 4 x 4 x 4 operations, the outer loop over m has 2 iterations. W is fetched into the buffer in
 * each of them, T0 and T1 once in all. The compute reads its three operands 64 times, but for the
 * first sums, which start at zero.
 */
static void counts_of_one_product(void)
{
    struct chain chain;
    chain_build(&chain, 1, false, 4, 2, 1e6);
    struct evaluation e = evaluate(&chain);
    CHECK(e.status == FORGE_OK);

    require_close(action(&e, MAIN_MEMORY, 0, FORGE_READ), 16);
    require_close(action(&e, MAIN_MEMORY, 0, FORGE_WRITE), 0);
    require_close(action(&e, MAIN_MEMORY, 1, FORGE_READ), 32);
    require_close(action(&e, MAIN_MEMORY, 2, FORGE_READ), 0);
    require_close(action(&e, MAIN_MEMORY, 2, FORGE_WRITE), 16);
    require_close(action(&e, BUFFER, 0, FORGE_READ), 64);
    require_close(action(&e, BUFFER, 1, FORGE_WRITE), 32);
    require_close(action(&e, BUFFER, 2, FORGE_READ), 64 - 16 + 16);
    require_close(action(&e, BUFFER, 2, FORGE_WRITE), 64);
    require_close(find(&e, FORGE_COLUMN_ACTION, 0, MAC, FORGE_NONE, FORGE_COMPUTES), 64);

    /* Of the holders T0, W, T1 of the buffer the last sinks: one value of T1, tiles of the rest. */
    require_close(find(&e, FORGE_COLUMN_RESERVATION, FORGE_NONE, BUFFER, FORGE_NONE, FORGE_NONE),
                  8 * (8 + 16 + 4) / 1e6);
    require_close(e.row[FORGE_TOTAL_LATENCY], 64 * 3 + 64 + 32 + 16);
    require_close(e.row[FORGE_TOTAL_ENERGY],
                  e.row[FORGE_TOTAL_DYNAMIC_ENERGY] + e.row[FORGE_TOTAL_LEAK_ENERGY]);
    release(&e);
}

/* While one Einsum runs, the tensor between the next two does not exist yet. */
static void fused_products_share_the_buffer(void)
{
    struct chain chain;
    chain_build(&chain, 3, true, 4, 2, 1e6);
    struct evaluation e = evaluate(&chain);
    CHECK(e.status == FORGE_OK);

    /* The middle one holds T1 and T2 (2 x 4 each), and W1, the last name, which sinks through no
     * loop: m is irrelevant to it. */
    require_close(find(&e, FORGE_COLUMN_RESERVATION, FORGE_NONE, BUFFER, FORGE_NONE, FORGE_NONE),
                  8 * (8 + 8 + 16) / 1e6);
    release(&e);
}

static void capacities_are_checked(void)
{
    struct chain chain;
    chain_build(&chain, 1, false, 4, 2, 8 * (8 + 16 + 4) - 1);
    struct evaluation e = evaluate(&chain);
    CHECK(e.status == FORGE_CAPACITY_EXCEEDED);
    CHECK(e.fault.einsum == 0 && e.fault.component == BUFFER);
    require_close(e.fault.needed, 8 * (8 + 16 + 4));
    CHECK(isnan(e.row[0]) && isnan(e.row[e.model->column_count - 1]));
    release(&e);

    chain_build(&chain, 3, true, 4, 2, 8 * (8 + 8 + 16));
    e = evaluate(&chain);
    CHECK(e.status == FORGE_OK);
    release(&e);
}

static void a_variable_without_a_tile_of_one_is_invalid(void)
{
    struct chain chain;
    chain_build(&chain, 1, false, 4, 2, 1e6);
    chain.values[1] = 2;
    struct evaluation e = evaluate(&chain);
    CHECK(e.status == FORGE_NO_UNIT_TILE);
    release(&e);
}

static void numbers_outside_their_range_are_refused(void)
{
    const double bad[] = {NAN, -1, 0, INFINITY, -INFINITY};
    struct chain chain;
    for (size_t i = 0; i < sizeof(bad) / sizeof *bad; i++) {
        chain_build(&chain, 1, false, 4, 2, 1e6);
        chain.values[chain.bound] = bad[i];
        struct forge_model *model;
        struct forge_fault fault;
        CHECK(forge_model_create(&model, &chain.problem, &fault) == FORGE_BAD_NUMBER);
        CHECK(model == NULL && fault.value == chain.bound);
    }
    CHECK(forge_number_fits(FORGE_CAPACITY, INFINITY));
    CHECK(!forge_number_fits(FORGE_ANY, NAN));
}

/* --- damage --- */

/* Whatever a table holds, there is a status, or a model that can be evaluated. */
static void try_damaged(struct chain *chain)
{
    struct forge_model *model;
    struct forge_fault fault;
    enum forge_status status = forge_model_create(&model, &chain->problem, &fault);
    CHECK(status < FORGE_STATUS_COUNT && status == fault.status);
    CHECK((status == FORGE_OK) == (model != NULL));
    if (model == NULL)
        return;

    struct forge_scratch *scratch = forge_scratch_create(model);
    double *row = calloc(model->column_count, sizeof(double));
    CHECK(scratch != NULL && row != NULL);
    forge_model_evaluate(model, scratch, NULL, row, &fault);
    free(row);
    forge_scratch_destroy(scratch);
    forge_model_destroy(model);
}

static void damage_words(struct chain *chain, uint32_t *words, size_t bytes, uint64_t *random)
{
    const uint32_t others[] = {FORGE_NONE, 0, 1, 2, 3, 1u << 21, 1u << 31};
    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        uint32_t before = words[i];
        words[i] = others[check_random_below(random, sizeof(others) / sizeof *others)];
        try_damaged(chain);
        words[i] = before;
    }
}

static void damaged_tables_are_survived(uint64_t *random)
{
    struct chain chain;
    chain_build(&chain, 2, true, 4, 2, 1e6);
    for (int round = 0; round < 3; round++) {
#define X(record, table) \
    damage_words(&chain, (uint32_t *)chain.table, \
                 chain.problem.record##_count * sizeof *chain.table, random);
        FORGE_TABLES(X)
#undef X
        damage_words(&chain, chain.indices, chain.problem.index_count * 4, random);
    }
}

static void missing_memory_is_reported(void)
{
    struct chain chain;
    chain_build(&chain, 3, true, 4, 2, 1e6);
    enum forge_status status = FORGE_OUT_OF_MEMORY;
    for (long n = 0; status != FORGE_OK; n++) {
        CHECK(n < 1000);
        struct forge_model *model;
        struct forge_fault fault;
        allocations_left = n;
        status = forge_model_create(&model, &chain.problem, &fault);
        allocations_left = -1;
        CHECK(status == FORGE_OK || status == FORGE_OUT_OF_MEMORY);
        forge_model_destroy(model);
    }
}

/* Without memory for all threads, fewer do the work. */
static void batches_survive_missing_memory(void)
{
    struct chain chain;
    chain_build(&chain, 2, true, 4, 2, 1e6);
    struct forge_model *model;
    struct forge_fault fault;
    CHECK(forge_model_create(&model, &chain.problem, &fault) == FORGE_OK);

    enum { ROWS = 100 };
    static double tiles[ROWS];
    for (int i = 0; i < ROWS; i++)
        tiles[i] = 1 + i % 4;
    const struct forge_series series = {chain.tile, tiles};
    const uint32_t selected = FORGE_TOTAL_ENERGY;
    double results[ROWS];
    uint8_t statuses[ROWS];
    bool done = false;
    for (long n = 0; !done; n++) {
        CHECK(n < 100);
        struct forge_batch batch = {
            .model = model,
            .rows = ROWS,
            .series = &series,
            .series_count = 1,
            .selected = &selected,
            .selected_count = 1,
            .results = results,
            .statuses = statuses,
        };
        allocations_left = n;
        enum forge_status status = forge_batch_run(&batch, 3, 1e9);
        done = allocations_left > 0;
        allocations_left = -1;
        CHECK(status == FORGE_OUT_OF_MEMORY || (status == FORGE_OK && batch.next == ROWS));
    }
    forge_model_destroy(model);
}

int main(void)
{
    uint64_t random = check_seed(20261122);
    counts_of_one_product();
    fused_products_share_the_buffer();
    capacities_are_checked();
    a_variable_without_a_tile_of_one_is_invalid();
    numbers_outside_their_range_are_refused();
    damaged_tables_are_survived(&random);
    missing_memory_is_reported();
    batches_survive_missing_memory();
    puts("ok");
    return 0;
}
