/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/merge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/join/pair.h"

/* Pairs of rows per task, about. */
#define TASK_PAIRS (1u << 18)
/* Points after which a front is reduced. */
#define REDUCE_AT 4096
/* Pairs between two looks at the limits. */
#define LOOK_PAIRS 65536

/* A part of the meetings of one cell that comes out; of the first one LEFT_FIRST is its first row
 * of the left side, and of a task with one meeting LEFT_COUNT says how many. */
struct task {
    uint32_t cell;
    size_t first;
    size_t count;
    uint32_t left_first;
    uint32_t left_count;
};

/* Points that a task or a cell has kept. */
struct kept {
    double *numbers;
    uint64_t *tags;
    size_t count;
};

/* One meeting while its pairs are joined. */
struct meeting {
    struct merger *m;
    struct desk *desk;
    struct fuse_pairing pairing;
    const double *rest;
};

/* Working memory of one thread. */
struct desk {
    struct fuse_front front;
    double *right; /* numbers of the rows of a piece, see fuse_fill_right() */
    size_t right_room;
    double *point;
    size_t point_room;
    uint64_t joined;
};

struct merger {
    const struct fuse_merging *merging;
    const struct fuse_pieces *pieces;
    const struct fuse_level *level;
    uint32_t e;
    const struct fuse_meetings *meetings;
    struct fuse_level *result;
    bool last;
    struct task *tasks;
    size_t task_count;
    size_t tasks_room;
    size_t *cell_tasks; /* per cell that comes out, and the end */
    struct kept *kept;  /* per task */
    struct kept *cells; /* per cell */
    struct desk *desks;
    struct fuse_harmless harmless;
    _Atomic size_t bytes;
    atomic_int status;
};

static bool fail(struct merger *m, enum fuse_status status)
{
    atomic_store(&m->status, (int)status);
    return false;
}

/* --- tasks --- */

static bool add_task(struct merger *m, struct task task)
{
    if (!fuse_reserve(&m->tasks, &m->tasks_room, m->task_count + 1, sizeof *m->tasks))
        return false;
    m->tasks[m->task_count++] = task;
    return true;
}

/* Splits a meeting with many pairs by the rows of the left side. */
static bool split_meeting(struct merger *m, size_t i)
{
    const struct fuse_meeting *meeting = &m->meetings->meetings[i];
    uint32_t rows = m->level->cells[meeting->cell].rows;
    uint32_t step = TASK_PAIRS / meeting->count + 1;
    for (uint32_t first = 0; first < rows; first += step) {
        uint32_t count = rows - first < step ? rows - first : step;
        if (!add_task(m, (struct task){meeting->result, i, 1, first, count}))
            return false;
    }
    return true;
}

static size_t pairs_of(const struct merger *m, size_t i)
{
    const struct fuse_meeting *meeting = &m->meetings->meetings[i];
    return (size_t)m->level->cells[meeting->cell].rows * meeting->count;
}

static bool make_tasks(struct merger *m)
{
    size_t i = 0;
    size_t count = m->meetings->count;
    for (uint32_t c = 0; c < m->result->cell_count; c++) {
        m->cell_tasks[c] = m->task_count;
        while (i < count && m->meetings->meetings[i].result == c) {
            if (pairs_of(m, i) > TASK_PAIRS) {
                if (!split_meeting(m, i++))
                    return false;
                continue;
            }
            struct task task = {.cell = c, .first = i};
            size_t pairs = 0;
            while (i < count && m->meetings->meetings[i].result == c && pairs < TASK_PAIRS &&
                   pairs_of(m, i) <= TASK_PAIRS) {
                pairs += pairs_of(m, i++);
                task.count++;
            }
            if (!add_task(m, task))
                return false;
        }
    }
    m->cell_tasks[m->result->cell_count] = m->task_count;
    return true;
}

/* --- pairs --- */

static bool clips_rows(const struct merger *m)
{
    return !m->merging->goal->usage && m->pieces->tracked_count > 0;
}

static bool is_beaten(const struct meeting *meeting, const double *out)
{
    const struct fuse_merging *merging = meeting->m->merging;
    const struct fuse_pairing *p = &meeting->pairing;
    if (merging->known->count == 0)
        return false;
    double least[FUSE_MAX_OBJECTIVES];
    double measures[FUSE_MAX_MEASURES];
    for (uint32_t i = 0; i < p->objectives; i++)
        least[i] = out[i] + meeting->rest[i];
    fuse_measure(merging->goal, p->pieces, least, out + p->objectives, p->to_depths, measures);
    return fuse_is_beaten(merging->known, measures);
}

/* Joins a row of the left side with one of the right side. False: out of memory. */
static bool join_pair(const struct meeting *meeting, const double *left, const double *waiting,
                      const double *right, uint64_t tag)
{
    const struct fuse_pairing *p = &meeting->pairing;
    double *compared = meeting->desk->point;
    double *out = compared + p->width;
    if (!fuse_join_rows(p, left, waiting, right, out) || is_beaten(meeting, out))
        return true;

    struct fuse_front *front = &meeting->desk->front;
    memcpy(compared, out, p->width * sizeof(double));
    if (clips_rows(meeting->m))
        fuse_clip(p, &meeting->m->harmless, compared);
    fuse_snap(compared, p->width);
    if (fuse_front_covers(front, compared))
        return true;
    if (!fuse_front_add(front, compared, tag))
        return false;
    return front->count - front->reduced < REDUCE_AT + front->reduced || fuse_front_reduce(front);
}

/* --- a task --- */

static struct meeting set_meeting(struct merger *m, struct desk *desk,
                                  const struct fuse_meeting *record)
{
    const struct fuse_match *match = &m->meetings->matches.matches[record->match];
    const struct fuse_shape *from = &m->level->shapes.shapes[match->left];
    const struct fuse_shape *to = &m->result->shapes.shapes[match->shape];
    uint32_t objectives = m->pieces->tables->objective_count;
    return (struct meeting){
        .m = m,
        .desk = desk,
        .pairing = {.pieces = m->pieces,
                    .match = match,
                    .from = from,
                    .to = to,
                    .objectives = objectives,
                    .memories = m->pieces->tracked_count,
                    .from_depths = from->loop_count + 1,
                    .to_depths = to->loop_count + 1,
                    .width = fuse_row_width(m->pieces, to)},
        .rest = m->meetings->rests + (size_t)record->result * objectives,
    };
}

static bool do_meeting(struct merger *m, struct desk *desk, const struct fuse_meeting *record,
                       uint32_t left_first, uint32_t left_count)
{
    const struct meeting meeting = set_meeting(m, desk, record);
    const struct fuse_pairing *p = &meeting.pairing;
    const struct fuse_cell *cell = &m->level->cells[record->cell];
    const uint32_t *rows = m->meetings->rows + record->first;
    size_t wide = fuse_right_width(p);
    if (!fuse_reserve(&desk->right, &desk->right_room, wide * record->count, sizeof(double)))
        return fail(m, FUSE_OUT_OF_MEMORY);
    for (uint32_t r = 0; r < record->count; r++)
        fuse_fill_right(p, rows[r], desk->right + r * wide);

    uint32_t left_width = fuse_row_width(m->pieces, p->from);
    uint32_t first_row = m->pieces->pieces[p->match->piece].first_row;
    uint64_t unlooked = 0;
    for (uint32_t l = left_first; l < left_first + left_count; l++) {
        const double *left = m->level->values + cell->value + (size_t)l * left_width;
        double waiting[FUSE_MAX_MEMORIES];
        fuse_find_waiting(p, left, waiting);
        for (uint32_t r = 0; r < record->count; r++) {
            uint64_t tag = (uint64_t)(cell->row + l) << 32 | (first_row + rows[r]);
            if (!join_pair(&meeting, left, waiting, desk->right + r * wide, tag))
                return fail(m, FUSE_OUT_OF_MEMORY);
        }
        unlooked += record->count;
        desk->joined += record->count;
        if (unlooked > LOOK_PAIRS) {
            unlooked = 0;
            if (fuse_is_over(m->merging->limits))
                return fail(m, FUSE_STOPPED);
        }
    }
    return true;
}

/* Makes room for points of the cell's rows: the numbers to compare by, then those of the row. */
static bool set_up(struct merger *m, struct desk *desk, uint32_t cell)
{
    const struct fuse_shape *shape = &m->result->shapes.shapes[m->result->cells[cell].shape];
    uint32_t width = fuse_row_width(m->pieces, shape);
    fuse_front_reset(&desk->front, 2 * width, width);
    return fuse_reserve(&desk->point, &desk->point_room, 2 * (size_t)width, sizeof(double));
}

/* Takes what the front has kept. */
static bool take(struct merger *m, const struct fuse_front *front, struct kept *kept)
{
    size_t numbers = front->count * front->width;
    kept->count = front->count;
    kept->numbers = malloc((numbers + 1) * sizeof(double));
    kept->tags = malloc((front->count + 1) * sizeof *kept->tags);
    if (kept->numbers == NULL || kept->tags == NULL)
        return fail(m, FUSE_OUT_OF_MEMORY);

    if (front->count > 0) {
        memcpy(kept->numbers, front->numbers, numbers * sizeof(double));
        memcpy(kept->tags, front->tags, front->count * sizeof *kept->tags);
    }
    size_t bytes = numbers * sizeof(double) + front->count * sizeof *kept->tags;
    if (atomic_fetch_add(&m->bytes, bytes) + bytes > m->merging->limits->bytes)
        return fail(m, FUSE_STOPPED);
    return true;
}

static bool do_task(void *context, size_t number, unsigned worker)
{
    struct merger *m = context;
    const struct task *task = &m->tasks[number];
    struct desk *desk = &m->desks[worker];
    if (!set_up(m, desk, task->cell))
        return fail(m, FUSE_OUT_OF_MEMORY);

    for (size_t i = 0; i < task->count; i++) {
        const struct fuse_meeting *meeting = &m->meetings->meetings[task->first + i];
        uint32_t rows = m->level->cells[meeting->cell].rows;
        uint32_t count = task->left_count > 0 ? task->left_count : rows;
        if (!do_meeting(m, desk, meeting, task->left_first, count))
            return false;
    }
    if (!fuse_front_reduce(&desk->front))
        return fail(m, FUSE_OUT_OF_MEMORY);
    return take(m, &desk->front, &m->kept[number]);
}

/* --- a cell --- */

/* How promising a row is: the product of what its objectives become at least. */
static double score(const struct merger *m, uint32_t cell, const double *numbers)
{
    uint32_t count = m->pieces->tables->objective_count;
    const double *rest = m->meetings->rests + (size_t)cell * count;
    double product = 1;
    for (uint32_t i = 0; i < count; i++)
        product *= numbers[i] + rest[i];
    return product;
}

/* Keeps the most promising rows, in their order, and the one that fills memories least. */
static void thin_out(const struct merger *m, uint32_t cell, struct fuse_front *front)
{
    size_t most = m->merging->most_rows;
    while (front->count > most) {
        /* Drop the worst half of what is too much, at most. */
        double sum = 0;
        for (size_t i = 0; i < front->count; i++)
            sum += score(m, cell, front->numbers + i * front->width);
        double mean = sum / (double)front->count;

        size_t kept = 0;
        for (size_t i = 0; i < front->count; i++) {
            double *numbers = front->numbers + i * front->width;
            size_t left = front->count - i;
            bool keep = kept + left <= most || score(m, cell, numbers) < mean;
            if (!keep)
                continue;
            memmove(front->numbers + kept * front->width, numbers, front->width * sizeof(double));
            front->tags[kept++] = front->tags[i];
        }
        if (kept == front->count || kept == 0)
            kept = most;
        front->count = kept;
    }
    front->reduced = front->count;
}

static bool finish_cell(void *context, size_t cell, unsigned worker)
{
    struct merger *m = context;
    struct desk *desk = &m->desks[worker];
    if (!set_up(m, desk, (uint32_t)cell))
        return fail(m, FUSE_OUT_OF_MEMORY);

    struct fuse_front *front = &desk->front;
    for (size_t t = m->cell_tasks[cell]; t < m->cell_tasks[cell + 1]; t++) {
        struct kept *kept = &m->kept[t];
        for (size_t i = 0; i < kept->count; i++)
            if (!fuse_front_add(front, kept->numbers + i * front->width, kept->tags[i]))
                return fail(m, FUSE_OUT_OF_MEMORY);
        atomic_fetch_sub(&m->bytes,
                         kept->count * (front->width * sizeof(double) + sizeof(uint64_t)));
        free(kept->numbers);
        free(kept->tags);
        *kept = (struct kept){0};
    }
    if (!fuse_front_reduce(front))
        return fail(m, FUSE_OUT_OF_MEMORY);
    if (m->merging->most_rows > 0)
        thin_out(m, (uint32_t)cell, front);
    return take(m, front, &m->cells[cell]);
}

/* --- the level that comes out --- */

static double best_score(const struct merger *m, uint32_t cell)
{
    const struct kept *kept = &m->cells[cell];
    const struct fuse_shape *shape = &m->result->shapes.shapes[m->result->cells[cell].shape];
    uint32_t width = 2 * fuse_row_width(m->pieces, shape);
    double best = __builtin_inf();
    for (size_t i = 0; i < kept->count; i++) {
        double own = score(m, cell, kept->numbers + i * width);
        best = own < best ? own : best;
    }
    return best;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Empties the cells that are not among the best ones. */
static bool thin_out_cells(struct merger *m)
{
    uint32_t count = m->result->cell_count;
    uint32_t most = m->merging->most_cells;
    if (most == 0 || count <= most)
        return true;
    double *scores = malloc(2 * (size_t)count * sizeof *scores);
    if (scores == NULL)
        return false;

    double *sorted = scores + count;
    for (uint32_t c = 0; c < count; c++)
        scores[c] = sorted[c] = best_score(m, c);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    for (uint32_t c = 0; c < count; c++)
        if (scores[c] > sorted[most - 1])
            m->cells[c].count = 0;
    free(scores);
    return true;
}

static enum fuse_status fill_result(struct merger *m)
{
    struct fuse_level *result = m->result;
    size_t rows = 0;
    size_t numbers = 0;
    for (uint32_t c = 0; c < result->cell_count; c++) {
        struct fuse_cell *cell = &result->cells[c];
        cell->rows = (uint32_t)m->cells[c].count;
        cell->row = rows;
        cell->value = numbers;
        rows += cell->rows;
        numbers +=
            (size_t)cell->rows * fuse_row_width(m->pieces, &result->shapes.shapes[cell->shape]);
    }
    if (rows >= UINT32_MAX)
        return FUSE_STOPPED;
    result->values = malloc((numbers + 1) * sizeof(double));
    result->parents = malloc((rows + 1) * sizeof *result->parents);
    result->ordinals = malloc((rows + 1) * sizeof *result->ordinals);
    if (result->values == NULL || result->parents == NULL || result->ordinals == NULL)
        return FUSE_OUT_OF_MEMORY;

    for (uint32_t c = 0; c < result->cell_count; c++) {
        const struct fuse_cell *cell = &result->cells[c];
        uint32_t width = fuse_row_width(m->pieces, &result->shapes.shapes[cell->shape]);
        for (size_t i = 0; i < cell->rows; i++) {
            size_t at = (2 * i + 1) * width;
            memcpy(result->values + cell->value + i * width, m->cells[c].numbers + at,
                   width * sizeof(double));
            result->parents[cell->row + i] = (uint32_t)(m->cells[c].tags[i] >> 32);
            result->ordinals[cell->row + i] = (uint32_t)m->cells[c].tags[i];
        }
    }
    result->row_count = rows;
    return rows == 0 ? FUSE_NOTHING_JOINS : FUSE_OK;
}

/* Cells without rows are left out. */
static void drop_empty_cells(struct fuse_level *result)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < result->cell_count; c++)
        if (result->cells[c].rows > 0)
            result->cells[kept++] = result->cells[c];
    result->cell_count = kept;
}

/* --- all of it --- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Sums over later Einsums. */
static void find_harmless(struct merger *m)
{
    const struct fuse_pieces *pieces = m->pieces;
    uint32_t count = pieces->tracked_count;
    for (uint32_t i = 0; i < count; i++) {
        double above = 0;
        double always = 0;
        double own = 0;
        for (size_t e = (size_t)m->e + 1; e < pieces->tables->einsum_count; e++) {
            above += pieces->most_above[e * count + i];
            always += pieces->most_always[e * count + i];
            own = larger(own, pieces->most_own[e * count + i]);
        }
        m->harmless.alone[i] = 1 - always;
        m->harmless.shared[i] = 1 - above;
        m->harmless.staying[i] = 1 - above - own;
    }
}

static enum fuse_status run(struct merger *m)
{
    uint32_t cells = m->result->cell_count;
    unsigned threads = m->merging->limits->threads > 0 ? m->merging->limits->threads : 1;
    m->cell_tasks = calloc((size_t)cells + 1, sizeof *m->cell_tasks);
    m->cells = calloc((size_t)cells + 1, sizeof *m->cells);
    m->desks = calloc(threads, sizeof *m->desks);
    if (m->cell_tasks == NULL || m->cells == NULL || m->desks == NULL || !make_tasks(m))
        return FUSE_OUT_OF_MEMORY;
    m->kept = calloc(m->task_count + 1, sizeof *m->kept);
    if (m->kept == NULL)
        return FUSE_OUT_OF_MEMORY;

    find_harmless(m);
    bool done = fuse_do_tasks(m->merging->limits, m->task_count, do_task, m) &&
                fuse_do_tasks(m->merging->limits, cells, finish_cell, m);
    for (unsigned i = 0; i < threads; i++)
        *m->merging->joined += m->desks[i].joined;
    if (!done)
        return (enum fuse_status)atomic_load(&m->status);
    if (!thin_out_cells(m))
        return FUSE_OUT_OF_MEMORY;
    enum fuse_status status = fill_result(m);
    drop_empty_cells(m->result);
    return status;
}

static void release(struct merger *m)
{
    unsigned threads = m->merging->limits->threads > 0 ? m->merging->limits->threads : 1;
    for (unsigned i = 0; m->desks != NULL && i < threads; i++) {
        fuse_front_clear(&m->desks[i].front);
        free(m->desks[i].right);
        free(m->desks[i].point);
    }
    for (size_t t = 0; m->kept != NULL && t < m->task_count; t++) {
        free(m->kept[t].numbers);
        free(m->kept[t].tags);
    }
    for (uint32_t c = 0; m->cells != NULL && c < m->result->cell_count; c++) {
        free(m->cells[c].numbers);
        free(m->cells[c].tags);
    }
    free(m->tasks);
    free(m->cell_tasks);
    free(m->kept);
    free(m->cells);
    free(m->desks);
}

enum fuse_status fuse_merge(const struct fuse_merging *merging, const struct fuse_level *level,
                            uint32_t e, const struct fuse_meetings *meetings,
                            struct fuse_level *result)
{
    struct merger m = {
        .merging = merging,
        .pieces = merging->pieces,
        .level = level,
        .e = e,
        .meetings = meetings,
        .result = result,
    };
    atomic_init(&m.bytes, 0);
    atomic_init(&m.status, FUSE_OUT_OF_MEMORY);
    uint32_t cells = result->cell_count;
    enum fuse_status status = run(&m);

    uint32_t left = result->cell_count;
    result->cell_count = cells;
    release(&m);
    result->cell_count = left;
    return status;
}
