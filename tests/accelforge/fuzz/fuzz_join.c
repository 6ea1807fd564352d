/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_join
 *
 * Fuzz target: the tables of groups of pmappings for the join. Whatever they hold, there is a
 * status, or results that are no better than the bounds, and the same with another number of
 * threads.
 *
 * An input is: the number of records of each table, then of stops, ranks, bounds, objectives, tiles
 * and values; objective_count, tensor_count, memory_count; flags; then all of them in this order.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accelforge/join/fuse.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_answer(const struct fuse_request *request, const struct fuse_answer *answer)
{
    size_t count = request->tables->objective_count;
    require(answer->row_count > 0, "there are results");
    for (size_t i = 0; i < answer->row_count * count; i++)
        require(answer->objectives[i] >= answer->least[i % count] * (1 - 1e-9),
                "results are no better than the bounds");
    for (size_t i = 0; i < answer->row_count * request->tables->memory_count; i++)
        require(isnan(answer->usage[i]) || answer->usage[i] <= 1 + 1e-9, "no memory is over full");
}

static void join(const struct fuse_tables *tables, uint32_t flags)
{
    struct fuse_request request = {
        .tables = tables,
        .goal = {.wanted = 1u | (flags >> 8 & 0xff), .product = flags & 1, .usage = flags & 2},
        .limits = {.threads = 1, .deadline = now() + 0.5, .bytes = (size_t)1 << 24},
        .objective_tolerance = flags & 4 ? 0.1 : 0,
        .usage_tolerance = flags & 8 ? 0.1 : 0,
        .all_memories = flags & 16,
    };
    if (tables->objective_count > 1)
        request.goal.latency = 1;

    struct fuse_answer answer;
    struct fuse_fault fault;
    enum fuse_status status = fuse_join(&request, &answer, &fault);
    require(status < FUSE_STATUS_COUNT && status == fault.status, "a status that exists");
    require(*fuse_status_text(status) != 0 || status == FUSE_OK, "a text");
    if (status == FUSE_OK)
        check_answer(&request, &answer);

    struct fuse_answer again;
    request.limits.threads = 3;
    enum fuse_status other = fuse_join(&request, &again, &fault);
    if (status == FUSE_OK && answer.complete && other == FUSE_OK && again.complete) {
        size_t einsums = answer.row_count * tables->einsum_count;
        require(answer.row_count == again.row_count &&
                    memcmp(answer.rows, again.rows, einsums * sizeof *again.rows) == 0 &&
                    memcmp(answer.groups, again.groups, einsums * sizeof *again.groups) == 0,
                "threads change nothing");
    }
    fuse_answer_clear(&answer);
    fuse_answer_clear(&again);
}

/* X(field, count) */
#define NUMBERS(X) \
    X(uint32_t, stops, stop_count) \
    X(uint32_t, ranks, rank_count) \
    X(double, bounds, bound_count) \
    X(double, objectives, objective_number_count) \
    X(int64_t, tiles, tile_count) \
    X(double, values, value_count)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct fuse_tables tables = {0};
#define X(record, table) tables.record##_count = take_number(&input);
    FUSE_TABLES(X)
#undef X
#define X(type, table, count) tables.count = take_number(&input);
    NUMBERS(X)
#undef X
    tables.objective_count = take_number(&input);
    tables.tensor_count = take_number(&input);
    tables.memory_count = take_number(&input);
    uint32_t flags = take_number(&input);

#define X(record, table) \
    struct fuse_##record *table = take(&input, &tables.record##_count, sizeof *table); \
    tables.table = table;
    FUSE_TABLES(X)
#undef X
#define X(type, table, count) \
    type *table = take(&input, &tables.count, sizeof *table); \
    tables.table = table;
    NUMBERS(X)
#undef X

    join(&tables, flags);

#define X(record, table) free(table);
    FUSE_TABLES(X)
#undef X
#define X(type, table, count) free(table);
    NUMBERS(X)
#undef X
    return 0;
}
