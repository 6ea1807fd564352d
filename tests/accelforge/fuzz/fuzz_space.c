/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_search
 *
 * Fuzz target: the tables of a mapspace for the accelforge search. Whatever they hold, there is a
 * status, or groups whose rows have finite objectives.
 *
 * An input is: the number of records of each table of the problem, then of indices and values;
 * tensor_ids and n_instances; the number of records of each table of the space, then of sets and
 * numbers; shared and intermediate tensors; the records; the settings; the values; their kinds.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/groups.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_settings(struct input *input, struct forge_settings *settings)
{
    size_t taken = sizeof *settings / sizeof(double);
    double *numbers = take(input, &taken, sizeof(double));
    memset(settings, 0, sizeof *settings);
    if (taken > 0)
        memcpy(settings, numbers, taken * sizeof(double));
    free(numbers);
    /* Python gives no others. */
    if (!(settings->tiling_coarseness >= 1))
        settings->tiling_coarseness = 1;
}

static void check(const struct forge_found *found)
{
    struct forge_groups groups;
    require(forge_groups_make(&groups, found) == FORGE_OK, "results can be grouped");
    for (uint32_t g = 0; g < groups.count; g++)
        for (uint32_t i = 0; i < FORGE_OBJECTIVES * groups.list[g].row_count; i++)
            require(isfinite(groups.list[g].objectives[i]), "objectives are finite");
    forge_groups_clear(&groups);
}

static void search(struct forge_space *space)
{
    struct forge_search *search = NULL;
    struct forge_fault fault;
    struct forge_search_request request = {
        .space = space, .threads = 1, .memory_limit = (size_t)1 << 24};
    enum forge_status status = forge_search_start(&search, &request, &fault);
    require((status == FORGE_OK) == (search != NULL), "a search or a status");
    if (search == NULL)
        return;
    if (!forge_search_wait(search, 0.02))
        forge_search_stop(search);
    struct forge_found found;
    if (forge_search_finish(search, &found, &fault) == FORGE_OK)
        check(&found);
    forge_search_destroy(search);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct forge_space space;
    memset(&space, 0, sizeof(space));
    struct forge_problem *problem = &space.problem;
#define X(record, table) problem->record##_count = take_number(&input);
    FORGE_TABLES(X)
#undef X
    problem->index_count = take_number(&input);
    problem->value_count = take_number(&input);
    problem->tensor_ids = take_number(&input);
    problem->n_instances = take_number(&input);
#define X(record, table) space.record##_count = take_number(&input);
    FORGE_SPACE_TABLES(X)
#undef X
    space.set_count = take_number(&input);
    space.number_count = take_number(&input);
    space.shared = take_number(&input);
    space.intermediate = take_number(&input);

#define X(record, table) \
    struct forge_##record *table = take(&input, &problem->record##_count, sizeof *table); \
    problem->table = table;
    FORGE_TABLES(X)
#undef X
    uint32_t *indices = take(&input, &problem->index_count, sizeof *indices);
    problem->indices = indices;
#define X(record, table) \
    struct forge_##record *table = take(&input, &space.record##_count, sizeof *table); \
    space.table = table;
    FORGE_SPACE_TABLES(X)
#undef X
    uint64_t *sets = take(&input, &space.set_count, sizeof *sets);
    double *limits = take(&input, &space.number_count, sizeof *limits);
    take_settings(&input, &space.settings);
    size_t with_kinds = input.left / (sizeof(double) + 1);
    if (problem->value_count > with_kinds)
        problem->value_count = with_kinds;
    double *values = take(&input, &problem->value_count, sizeof *values);
    uint8_t *numbers = take(&input, &problem->value_count, 1);
    problem->values = values;
    problem->numbers = numbers;
    space.sets = sets;
    space.numbers = limits;

    /* Names are in the order of their numbers. */
    uint32_t order[FORGE_MAX_LEVELS];
    uint8_t flags[FORGE_MAX_LEVELS];
    for (uint32_t i = 0; i < FORGE_MAX_LEVELS; i++) {
        order[i] = i;
        flags[i] = (uint8_t)(i % 2);
    }
    space.variable_ranks = space.tensor_ranks = space.level_ranks = order;
    space.unforced = space.tracked = flags;
    space.wanted[0] = space.wanted[1] = true;
    search(&space);

#define X(record, table) free(table);
    FORGE_TABLES(X)
    FORGE_SPACE_TABLES(X)
#undef X
    free(indices);
    free(sets);
    free(limits);
    free(values);
    free(numbers);
    return 0;
}
