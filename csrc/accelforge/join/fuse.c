/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/fuse.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/join/filter.h"
#include "accelforge/join/merge.h"

/* Effort of a pass; 0: everything. */
struct effort {
    uint32_t rows;
    uint32_t cells;
};

static const struct effort quick = {4, 128};
static const struct effort thorough = {0, 0};

struct joiner {
    const struct fuse_request *request;
    struct fuse_pieces pieces;
    struct fuse_bound bound;
    struct fuse_known known;
    struct fuse_answer *answer;
    size_t objectives_room;
    size_t usage_room;
    size_t groups_room;
    size_t rows_room;
    struct fuse_level *levels; /* one more than Einsums */
    uint64_t pass;
};

static uint32_t einsum_count(const struct joiner *j)
{
    return (uint32_t)j->request->tables->einsum_count;
}

static void report(const struct joiner *j, uint64_t einsums, uint64_t rows)
{
    uint64_t *progress = j->request->progress;
    if (progress == NULL)
        return;
    __atomic_store_n(&progress[FUSE_COUNT_PASS], j->pass, __ATOMIC_RELAXED);
    __atomic_store_n(&progress[FUSE_COUNT_EINSUMS], einsums, __ATOMIC_RELAXED);
    __atomic_store_n(&progress[FUSE_COUNT_ROWS], rows, __ATOMIC_RELAXED);
    __atomic_store_n(&progress[FUSE_COUNT_JOINED], j->answer->joined, __ATOMIC_RELAXED);
}

/* --- results --- */

/* Where a row of the last level has its peaks; each of them is alone. */
static const double *peaks_of(const struct joiner *j, const double *values)
{
    return values + j->request->tables->objective_count;
}

/* Follows row I of the last level back through the levels. */
static void trace(const struct joiner *j, size_t i, uint32_t *groups, uint32_t *rows)
{
    for (uint32_t e = einsum_count(j); e-- > 0;) {
        const struct fuse_level *level = &j->levels[e + 1];
        uint32_t ordinal = level->ordinals[i];
        uint32_t p = j->pieces.piece_bases[e];
        while (ordinal - j->pieces.pieces[p].first_row >= j->pieces.pieces[p].rows)
            p++;
        groups[e] = j->pieces.pieces[p].group;
        rows[e] = ordinal - j->pieces.pieces[p].first_row;
        i = level->parents[i];
    }
}

static bool add_result(struct joiner *j, size_t i, const double *values)
{
    struct fuse_answer *answer = j->answer;
    const struct fuse_tables *tables = j->request->tables;
    size_t n = answer->row_count;
    size_t objectives = tables->objective_count;
    size_t memories = tables->memory_count;
    size_t einsums = tables->einsum_count;
    if (!fuse_reserve(&answer->objectives, &j->objectives_room, (n + 1) * objectives,
                      sizeof(double)) ||
        !fuse_reserve(&answer->usage, &j->usage_room, (n + 1) * memories + 1, sizeof(double)) ||
        !fuse_reserve(&answer->groups, &j->groups_room, (n + 1) * einsums, sizeof(uint32_t)) ||
        !fuse_reserve(&answer->rows, &j->rows_room, (n + 1) * einsums, sizeof(uint32_t)))
        return false;

    memcpy(answer->objectives + n * objectives, values, objectives * sizeof(double));
    for (uint32_t m = 0; m < memories; m++) {
        uint32_t tracked = j->pieces.tracked[m];
        answer->usage[n * memories + m] =
            tracked == FUSE_NONE ? __builtin_nan("") : peaks_of(j, values)[tracked];
    }
    trace(j, i, answer->groups + n * einsums, answer->rows + n * einsums);
    answer->row_count++;
    return true;
}

/* Adds the best rows of the last level to what is known, and to the answer. */
static bool collect(struct joiner *j)
{
    const struct fuse_level *last = &j->levels[einsum_count(j)];
    uint32_t width = last->cell_count == 0
                         ? 0
                         : fuse_row_width(&j->pieces, &last->shapes.shapes[last->cells[0].shape]);
    struct fuse_front front = {0};
    bool done = true;
    double measures[FUSE_MAX_MEASURES];
    for (size_t i = 0; done && i < last->row_count; i++) {
        const double *values = last->values + i * width;
        uint32_t count =
            fuse_measure(&j->request->goal, &j->pieces, values, peaks_of(j, values), 1, measures);
        fuse_snap(measures, count);
        if (i == 0)
            fuse_front_reset(&front, count, count);
        done = fuse_front_add(&front, measures, i);
    }
    done = done && fuse_front_reduce(&front);
    for (size_t i = 0; done && i < front.count; i++)
        done = fuse_know(&j->known, front.numbers + i * front.width, front.width) &&
               add_result(j, fuse_front_tag(&front, i),
                          last->values + fuse_front_tag(&front, i) * width);
    fuse_front_clear(&front);
    return done;
}

/* --- bounds --- */

static void lower(double *least, double x)
{
    if (x < *least)
        *least = x;
}

static void bound_results(struct joiner *j)
{
    const struct fuse_goal *goal = &j->request->goal;
    uint32_t count = j->request->tables->objective_count;
    struct fuse_answer *answer = j->answer;
    for (size_t i = 0; i < answer->row_count; i++) {
        const double *objectives = answer->objectives + i * count;
        for (uint32_t n = 0; n < count; n++)
            lower(&answer->least[n], objectives[n]);
        if (goal->product)
            lower(&answer->least_product, objectives[goal->energy] * objectives[goal->latency]);
    }
}

/* After a stop: what is possible from the rows of LEVEL, which Einsums up to DONE have. */
static void bound_level(struct joiner *j, const struct fuse_level *level, uint32_t done)
{
    const struct fuse_goal *goal = &j->request->goal;
    uint32_t count = j->request->tables->objective_count;
    uint64_t *keys = calloc((size_t)j->request->tables->tensor_count + 1, sizeof *keys);
    for (uint32_t c = 0; keys != NULL && c < level->cell_count; c++) {
        const struct fuse_cell *cell = &level->cells[c];
        const struct fuse_shape *shape = &level->shapes.shapes[cell->shape];
        double rest[FUSE_MAX_OBJECTIVES] = {0};
        for (uint32_t i = 0; i < shape->live_count; i++)
            keys[shape->lives[i].tensor] = fuse_shape_key(shape, i, level->laps + cell->lap);
        if (!fuse_bound_rest(&j->bound, done, keys, rest))
            continue;

        uint32_t width = fuse_row_width(&j->pieces, shape);
        for (size_t i = 0; i < cell->rows; i++) {
            const double *values = level->values + cell->value + i * width;
            for (uint32_t n = 0; n < count; n++)
                lower(&j->answer->least[n], values[n] + rest[n]);
            if (goal->product)
                lower(&j->answer->least_product, (values[goal->energy] + rest[goal->energy]) *
                                                     (values[goal->latency] + rest[goal->latency]));
        }
    }
    if (keys == NULL)
        for (uint32_t n = 0; n < FUSE_MAX_OBJECTIVES; n++)
            j->answer->least[n] = j->answer->least_product = 0;
    free(keys);
}

/* --- passes --- */

static void clear_levels(struct joiner *j)
{
    for (uint32_t e = 0; j->levels != NULL && e <= einsum_count(j); e++)
        fuse_level_clear(&j->levels[e]);
}

static enum fuse_status join_einsum(struct joiner *j, uint32_t e, struct effort effort)
{
    const struct fuse_merging merging = {
        .pieces = &j->pieces,
        .goal = &j->request->goal,
        .known = &j->known,
        .limits = &j->request->limits,
        .most_rows = effort.rows,
        .most_cells = effort.cells,
        .joined = &j->answer->joined,
    };
    struct fuse_meetings meetings;
    enum fuse_status status = fuse_meet(&j->pieces, &j->bound, &j->request->limits, &j->levels[e],
                                        e, &j->levels[e + 1], &meetings);
    if (status == FUSE_OK)
        status = fuse_merge(&merging, &j->levels[e], e, &meetings, &j->levels[e + 1]);
    fuse_meetings_clear(&meetings);
    return status;
}

/* Joins all Einsums; *DONE is how many are joined. */
static enum fuse_status run_pass(struct joiner *j, struct effort effort, uint32_t *done)
{
    clear_levels(j);
    j->pass++;
    *done = 0;
    if (!fuse_level_start(&j->levels[0], &j->pieces))
        return FUSE_OUT_OF_MEMORY;

    for (uint32_t e = 0; e < einsum_count(j); e++) {
        report(j, e, j->levels[e].row_count);
        enum fuse_status status = join_einsum(j, e, effort);
        if (status != FUSE_OK)
            return status;
        fuse_level_drop(&j->levels[e]);
        *done = e + 1;
    }
    report(j, einsum_count(j), j->levels[einsum_count(j)].row_count);
    return FUSE_OK;
}

static enum fuse_status search(struct joiner *j, struct fuse_fault *fault)
{
    uint32_t done = 0;
    enum fuse_status status = run_pass(j, quick, &done);
    if (status == FUSE_OK && !collect(j))
        status = FUSE_OUT_OF_MEMORY;
    if (status != FUSE_OK && status != FUSE_NOTHING_JOINS && status != FUSE_STOPPED)
        return status;

    size_t found = j->answer->row_count;
    status = run_pass(j, thorough, &done);
    if (status == FUSE_OK) {
        j->answer->row_count = 0;
        j->answer->complete = true;
        if (!collect(j))
            return FUSE_OUT_OF_MEMORY;
    } else if (status == FUSE_STOPPED) {
        bound_level(j, &j->levels[done], done);
        status = found > 0 ? FUSE_OK : FUSE_STOPPED;
    } else if (status == FUSE_NOTHING_JOINS) {
        *fault = (struct fuse_fault){status, done, FUSE_NONE, FUSE_NONE};
    }
    if (status == FUSE_OK)
        bound_results(j);
    return status;
}

static enum fuse_status prepare(struct joiner *j, struct fuse_fault *fault)
{
    const struct fuse_request *request = j->request;
    enum fuse_status status = fuse_tables_check(request->tables, fault);
    if (status != FUSE_OK)
        return status;
    status = fuse_pieces_build(&j->pieces, request->tables,
                               request->all_memories || request->goal.usage, fault);
    if (status == FUSE_OK)
        status =
            fuse_filter_alike(&j->pieces, request->objective_tolerance, request->usage_tolerance);
    if (status == FUSE_OK)
        status = fuse_filter_keys(&j->pieces, fault);
    if (status != FUSE_OK)
        return status;

    j->levels = calloc(request->tables->einsum_count + 1, sizeof *j->levels);
    return j->levels != NULL && fuse_bound_build(&j->bound, &j->pieces) ? FUSE_OK
                                                                        : FUSE_OUT_OF_MEMORY;
}

enum fuse_status fuse_join(const struct fuse_request *request, struct fuse_answer *answer,
                           struct fuse_fault *fault)
{
    memset(answer, 0, sizeof *answer);
    *fault = (struct fuse_fault){FUSE_OK, FUSE_NONE, FUSE_NONE, FUSE_NONE};
    struct joiner j = {.request = request, .answer = answer};
    for (uint32_t n = 0; n < FUSE_MAX_OBJECTIVES; n++)
        answer->least[n] = __builtin_inf();
    answer->least_product = __builtin_inf();

    enum fuse_status status = prepare(&j, fault);
    if (status == FUSE_OK)
        status = search(&j, fault);

    clear_levels(&j);
    free(j.levels);
    fuse_bound_clear(&j.bound);
    fuse_known_clear(&j.known);
    fuse_pieces_clear(&j.pieces);
    if (status == FUSE_OK)
        *fault = (struct fuse_fault){FUSE_OK, FUSE_NONE, FUSE_NONE, FUSE_NONE};
    fault->status = status;
    return status;
}

void fuse_answer_clear(struct fuse_answer *answer)
{
    free(answer->objectives);
    free(answer->usage);
    free(answer->groups);
    free(answer->rows);
    memset(answer, 0, sizeof *answer);
}
