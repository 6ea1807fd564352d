/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge tsan
 *
 * Batches of the accelforge engine: rows are those of single evaluations, whatever the number of
 * threads, and a batch that was interrupted goes on.
 */
#include "accelforge/model/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "chain.h"

enum { ROWS = 1000, SELECTED = 3 };

static const uint32_t selected[SELECTED] = {FORGE_TOTAL_ENERGY, FORGE_TOTAL_LATENCY, 9};

struct results {
    double numbers[ROWS * SELECTED];
    uint8_t statuses[ROWS];
};

static double tiles[ROWS];
static double energies[ROWS];

static void run(const struct chain *chain, const struct forge_model *model, unsigned threads,
                double seconds, struct results *results)
{
    const struct forge_series series[] = {{chain->tile, tiles}, {chain->read_energy, energies}};
    struct forge_batch batch = {
        .model = model,
        .rows = ROWS,
        .series = series,
        .series_count = 2,
        .selected = selected,
        .selected_count = SELECTED,
        .results = results->numbers,
        .statuses = results->statuses,
    };
    memset(results, 0xff, sizeof *results);
    for (int calls = 0; batch.next < ROWS; calls++) {
        size_t before = batch.next;
        CHECK(calls < ROWS);
        CHECK(forge_batch_run(&batch, threads, seconds) == FORGE_OK);
        CHECK(batch.next > before);
    }
}

/* Rows one after the other, without batches. */
static void run_singly(const struct chain *chain, const struct forge_model *model,
                       struct results *results)
{
    struct forge_scratch *scratch = forge_scratch_create(model);
    double *row = calloc(model->column_count, sizeof(double));
    double *values = calloc(chain->problem.value_count, sizeof(double));
    CHECK(scratch != NULL && row != NULL && values != NULL);
    for (size_t i = 0; i < ROWS; i++) {
        struct forge_fault fault;
        memcpy(values, chain->values, chain->problem.value_count * sizeof(double));
        values[chain->tile] = tiles[i];
        values[chain->read_energy] = energies[i];
        bool fits = tiles[i] > 0;
        enum forge_status status =
            fits ? forge_model_evaluate(model, scratch, values, row, &fault) : FORGE_BAD_NUMBER;
        results->statuses[i] = (uint8_t)status;
        for (int s = 0; s < SELECTED; s++)
            results->numbers[i * SELECTED + (size_t)s] = fits ? row[selected[s]] : NAN;
    }
    free(values);
    free(row);
    forge_scratch_destroy(scratch);
}

static void compare(const struct results *a, const struct results *b)
{
    CHECK(memcmp(a->statuses, b->statuses, sizeof(a->statuses)) == 0);
    for (size_t i = 0; i < ROWS * SELECTED; i++)
        CHECK((isnan(a->numbers[i]) && isnan(b->numbers[i])) ||
              memcmp(&a->numbers[i], &b->numbers[i], sizeof(double)) == 0);
}

int main(void)
{
    static struct chain chain;
    static struct results single;
    static struct results found;
    uint64_t random = check_seed(7);
    chain_build(&chain, 3, true, 64, 8, 8 * (2 * 32 * 64 + 64 * 64));
    for (size_t i = 0; i < ROWS; i++) {
        tiles[i] = (double)check_random_below(&random, 65); /* 0 is outside its range */
        energies[i] = (double)check_random_below(&random, 10);
    }

    struct forge_model *model;
    struct forge_fault fault;
    CHECK(forge_model_create(&model, &chain.problem, &fault) == FORGE_OK);
    run_singly(&chain, model, &single);
    bool seen[FORGE_STATUS_COUNT] = {false};
    for (size_t i = 0; i < ROWS; i++)
        seen[single.statuses[i]] = true;
    CHECK(seen[FORGE_OK] && seen[FORGE_BAD_NUMBER] && seen[FORGE_CAPACITY_EXCEEDED]);

    const unsigned threads[] = {0, 1, 2, 3, 7, 1000};
    for (size_t i = 0; i < sizeof(threads) / sizeof *threads; i++) {
        run(&chain, model, threads[i], 1e9, &found);
        compare(&single, &found);
    }
    /* No time: each call does what its threads have begun. */
    run(&chain, model, 2, 0, &found);
    compare(&single, &found);

    struct forge_batch batch = {.model = model, .rows = 1, .selected_count = 1};
    uint32_t beyond = model->column_count;
    batch.selected = &beyond;
    CHECK(forge_batch_run(&batch, 1, 1) == FORGE_BAD_INDEX);
    forge_model_destroy(model);
    puts("ok");
    return 0;
}
