/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge
 *
 * Fuzz target: the tables of a problem for the accelforge engine. Whatever they hold, there is a
 * status, or a model whose evaluation gives finite numbers or a reason.
 *
 * An input is: the number of records of each table, then of indices and values; tensor_ids and
 * n_instances; the records; the values; their kinds.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/model/model.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct forge_model *model, const double *row, enum forge_status status)
{
    if (status != FORGE_OK) {
        for (uint32_t i = 0; i < model->column_count; i++)
            require(isnan(row[i]), "an invalid mapping has no numbers");
        return;
    }
    require(isfinite(row[FORGE_TOTAL_ENERGY]) && isfinite(row[FORGE_TOTAL_LATENCY]),
            "totals are finite");
    require(fabs(row[FORGE_TOTAL_ENERGY] - row[FORGE_TOTAL_DYNAMIC_ENERGY] -
                 row[FORGE_TOTAL_LEAK_ENERGY]) <= 1e-6 * fabs(row[FORGE_TOTAL_ENERGY]),
            "energy is dynamic energy and leaks");
    for (uint32_t m = 0; m < model->join.memory_count; m++)
        require(!(row[FORGE_TOTAL_COUNT + m] > 1 + 1e-12), "no memory is over full");
}

static void evaluate(struct forge_model *model)
{
    struct forge_scratch *scratch = forge_scratch_create(model);
    double *row = calloc(model->column_count, sizeof(double));
    double *again = calloc(model->column_count, sizeof(double));
    if (scratch == NULL || row == NULL || again == NULL)
        exit(2);

    struct forge_fault fault;
    enum forge_status status = forge_model_evaluate(model, scratch, NULL, row, &fault);
    require(status < FORGE_STATUS_COUNT && status == fault.status, "a status that exists");
    require(*forge_status_text(status) != 0 || status == FORGE_OK, "a text");
    check_row(model, row, status);
    require(forge_model_evaluate(model, scratch, model->problem.values, again, &fault) == status &&
                memcmp(row, again, model->column_count * sizeof(double)) == 0,
            "the same values give the same row");

    free(again);
    free(row);
    forge_scratch_destroy(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct forge_problem problem = {0};
#define X(record, table) problem.record##_count = take_number(&input);
    FORGE_TABLES(X)
#undef X
    problem.index_count = take_number(&input);
    problem.value_count = take_number(&input);
    problem.tensor_ids = take_number(&input);
    problem.n_instances = take_number(&input);

#define X(record, table) \
    struct forge_##record *table = take(&input, &problem.record##_count, sizeof *table); \
    problem.table = table;
    FORGE_TABLES(X)
#undef X
    uint32_t *indices = take(&input, &problem.index_count, sizeof *indices);
    size_t with_kinds = input.left / (sizeof(double) + 1);
    if (problem.value_count > with_kinds)
        problem.value_count = with_kinds;
    double *values = take(&input, &problem.value_count, sizeof *values);
    uint8_t *numbers = take(&input, &problem.value_count, 1);
    problem.indices = indices;
    problem.values = values;
    problem.numbers = numbers;

    struct forge_model *model;
    struct forge_fault fault;
    enum forge_status status = forge_model_create(&model, &problem, &fault);
    require((status == FORGE_OK) == (model != NULL), "a model or a status");
    if (model != NULL)
        evaluate(model);
    forge_model_destroy(model);

#define X(record, table) free(table);
    FORGE_TABLES(X)
#undef X
    free(indices);
    free(values);
    free(numbers);
    return 0;
}
