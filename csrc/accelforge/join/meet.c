/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/meet.h"

#include <stdlib.h>
#include <string.h>

/* A row of a piece with its laps: those that the left side has, then those that come out. */
struct entry {
    const uint32_t *laps;
    uint32_t row;
};

struct finder {
    const struct fuse_pieces *pieces;
    const struct fuse_bound *bound;
    const struct fuse_limits *limits;
    const struct fuse_level *level;
    uint32_t e;
    struct fuse_level *result;
    struct fuse_meetings *meetings;
    uint32_t *cells_by_shape; /* cells of the level, in the order of their shapes */
    uint32_t *shape_firsts;   /* per shape, and the end */
    struct fuse_map hashes;   /* of cells that come out */
    uint32_t *hash_cells;     /* per hash: the last cell, or FUSE_NONE */
    size_t hash_room;
    uint32_t *nexts; /* per cell: the next one with the hash */
    size_t nexts_room;
    size_t cells_room;
    size_t laps_room;
    size_t lap_count;
    uint64_t *keys; /* by tensor */
    struct entry *entries;
    size_t entries_room;
    uint32_t *laps; /* of the entries */
    size_t entry_laps_room;
};

/* --- shapes and pieces --- */

static bool find_lives(struct finder *f)
{
    const struct fuse_pieces *pieces = f->pieces;
    f->result->lives = calloc((size_t)pieces->tables->tensor_count + 1, sizeof(uint32_t));
    if (f->result->lives == NULL)
        return false;
    for (uint32_t t = 0; t < pieces->tables->tensor_count; t++)
        if (pieces->tensors[t].first <= f->e && pieces->tensors[t].last > f->e)
            f->result->lives[f->result->live_count++] = t;
    return true;
}

static bool sort_cells(struct finder *f)
{
    const struct fuse_level *level = f->level;
    f->cells_by_shape = calloc((size_t)level->cell_count + 1, sizeof(uint32_t));
    f->shape_firsts = calloc((size_t)level->shapes.count + 2, sizeof(uint32_t));
    if (f->cells_by_shape == NULL || f->shape_firsts == NULL)
        return false;

    for (uint32_t c = 0; c < level->cell_count; c++)
        f->shape_firsts[level->cells[c].shape + 2]++;
    for (uint32_t s = 0; s < level->shapes.count; s++)
        f->shape_firsts[s + 1] += f->shape_firsts[s];
    for (uint32_t c = 0; c < level->cell_count; c++)
        f->cells_by_shape[f->shape_firsts[level->cells[c].shape + 1]++] = c;
    return true;
}

static enum fuse_status match_all(struct finder *f)
{
    enum fuse_status status = FUSE_OK;
    for (uint32_t s = 0; s < f->level->shapes.count; s++) {
        if (f->shape_firsts[s] == f->shape_firsts[s + 1])
            continue;
        if (fuse_is_over(f->limits))
            return FUSE_STOPPED;
        for (uint32_t p = f->pieces->piece_bases[f->e];
             status == FUSE_OK && p < f->pieces->piece_bases[f->e + 1]; p++)
            if (f->pieces->pieces[p].kept_count > 0)
                status = fuse_match_piece(f->pieces, &f->level->shapes, s, p, f->result->lives,
                                          f->result->live_count, &f->result->shapes,
                                          &f->meetings->matches);
    }
    return status;
}

/* --- cells that come out --- */

static uint32_t find_cell(const struct finder *f, uint32_t hash, uint32_t shape,
                          const uint32_t *laps, uint32_t count)
{
    uint32_t c = f->hash_cells[hash];
    while (c != FUSE_NONE && (f->result->cells[c].shape != shape ||
                              (count > 0 && memcmp(f->result->laps + f->result->cells[c].lap, laps,
                                                   count * sizeof *laps) != 0)))
        c = f->nexts[c];
    return c;
}

/* Sets the least that later Einsums cost; infinite if none fits. */
static void set_rest(struct finder *f, uint32_t c, const struct fuse_shape *shape,
                     const uint32_t *laps)
{
    uint32_t count = f->pieces->tables->objective_count;
    double *rest = f->meetings->rests + (size_t)c * count;
    memset(rest, 0, count * sizeof(double));
    for (uint32_t i = 0; i < shape->live_count; i++)
        f->keys[shape->lives[i].tensor] = fuse_shape_key(shape, i, laps);
    if (!fuse_bound_rest(f->bound, f->e + 1, f->keys, rest))
        rest[0] = __builtin_inf();
}

/* The number of the cell that comes out, or FUSE_NONE: out of memory. */
static uint32_t intern_cell(struct finder *f, uint32_t s, const uint32_t *laps)
{
    const struct fuse_shape *shape = &f->result->shapes.shapes[s];
    uint32_t count = shape->loop_count;
    uint64_t hash = fuse_mix(s);
    for (uint32_t l = 0; l < count; l++)
        hash = fuse_mix(hash ^ laps[l]);
    uint32_t known = f->hashes.count;
    uint32_t number = fuse_map_add(&f->hashes, hash);
    if (number == FUSE_NONE ||
        !fuse_reserve(&f->hash_cells, &f->hash_room, (size_t)number + 1, sizeof *f->hash_cells))
        return FUSE_NONE;
    if (number == known)
        f->hash_cells[number] = FUSE_NONE;
    uint32_t c = find_cell(f, number, s, laps, count);
    if (c != FUSE_NONE)
        return c;

    c = f->result->cell_count;
    size_t objectives = f->pieces->tables->objective_count;
    if (!fuse_reserve(&f->result->cells, &f->cells_room, (size_t)c + 1, sizeof *f->result->cells) ||
        !fuse_reserve(&f->nexts, &f->nexts_room, (size_t)c + 1, sizeof *f->nexts) ||
        !fuse_reserve(&f->result->laps, &f->laps_room, f->lap_count + count + 1,
                      sizeof *f->result->laps) ||
        !fuse_reserve(&f->meetings->rests, &f->meetings->rests_room, (c + 1) * objectives,
                      sizeof(double)))
        return FUSE_NONE;

    f->result->cells[c] = (struct fuse_cell){.shape = s, .lap = f->lap_count};
    memcpy(f->result->laps + f->lap_count, laps, count * sizeof *laps);
    f->lap_count += count;
    f->nexts[c] = f->hash_cells[number];
    f->hash_cells[number] = c;
    set_rest(f, c, shape, laps);
    f->result->cell_count++;
    return c;
}

/* --- rows --- */

static int compare_laps(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_entries(const void *a, const void *b, void *count)
{
    const struct entry *x = a;
    const struct entry *y = b;
    int order = compare_laps(x->laps, y->laps, *(const uint32_t *)count);
    if (order != 0)
        return order;
    return x->row < y->row ? -1 : 1;
}

/* Lists the kept rows of the match's piece, sorted by their laps. */
static bool list_rows(struct finder *f, const struct fuse_match *match, uint32_t in, uint32_t out)
{
    const struct fuse_piece *piece = &f->pieces->pieces[match->piece];
    size_t rows = piece->kept_count;
    uint32_t width = in + out;
    if (!fuse_reserve(&f->entries, &f->entries_room, rows, sizeof *f->entries) ||
        !fuse_reserve(&f->laps, &f->entry_laps_room, rows * width + 1, sizeof *f->laps))
        return false;

    for (size_t i = 0; i < rows; i++) {
        const uint32_t *laps = piece->laps + (size_t)piece->kept[i] * piece->loop_count;
        uint32_t *own = f->laps + i * width;
        f->entries[i] = (struct entry){own, piece->kept[i]};
        for (uint32_t l = 0; l < in; l++)
            own[l] = laps[match->in[l]];
        for (uint32_t l = 0; l < out; l++)
            own[in + l] = laps[match->out[l]];
    }
    if (width > 0)
        qsort_r(f->entries, rows, sizeof *f->entries, compare_entries, &width);
    return true;
}

/* The first entry that is not below LAPS. */
static size_t lower_bound(const struct finder *f, size_t count, const uint32_t *laps, uint32_t in)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_laps(f->entries[middle].laps, laps, in) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The entries I to END, which fit cell C, have the same laps. */
static bool add_meeting(struct finder *f, uint32_t m, uint32_t c, size_t first, size_t count,
                        const uint32_t *laps)
{
    struct fuse_meetings *meetings = f->meetings;
    uint32_t result = intern_cell(f, meetings->matches.matches[m].shape, laps);
    if (result == FUSE_NONE)
        return false;
    if (__builtin_isinf(meetings->rests[(size_t)result * f->pieces->tables->objective_count]))
        return true;
    if (!fuse_reserve(&meetings->meetings, &meetings->room, meetings->count + 1,
                      sizeof *meetings->meetings))
        return false;
    meetings->meetings[meetings->count++] = (struct fuse_meeting){
        .cell = c, .match = m, .result = result, .count = (uint32_t)count, .first = first};
    return true;
}

static bool meet_cell(struct finder *f, uint32_t m, uint32_t c, size_t base, uint32_t in,
                      uint32_t out)
{
    const struct fuse_match *match = &f->meetings->matches.matches[m];
    size_t count = f->pieces->pieces[match->piece].kept_count;
    const uint32_t *laps = f->level->laps + f->level->cells[c].lap;
    size_t i = lower_bound(f, count, laps, in);
    while (i < count && compare_laps(f->entries[i].laps, laps, in) == 0) {
        size_t end = i + 1;
        while (end < count && compare_laps(f->entries[i].laps, f->entries[end].laps, in + out) == 0)
            end++;
        if (!add_meeting(f, m, c, base + i, end - i, f->entries[i].laps + in))
            return false;
        i = end;
    }
    return true;
}

static bool meet_match(struct finder *f, uint32_t m)
{
    const struct fuse_match *match = &f->meetings->matches.matches[m];
    uint32_t in = f->level->shapes.shapes[match->left].loop_count;
    uint32_t out = f->result->shapes.shapes[match->shape].loop_count;
    size_t count = f->pieces->pieces[match->piece].kept_count;
    size_t base = f->meetings->row_count;
    if (!list_rows(f, match, in, out) || !fuse_reserve(&f->meetings->rows, &f->meetings->rows_room,
                                                       base + count, sizeof *f->meetings->rows))
        return false;

    for (size_t i = 0; i < count; i++)
        f->meetings->rows[base + i] = f->entries[i].row;
    size_t before = f->meetings->count;
    for (uint32_t i = f->shape_firsts[match->left]; i < f->shape_firsts[match->left + 1]; i++)
        if (!meet_cell(f, m, f->cells_by_shape[i], base, in, out))
            return false;
    if (f->meetings->count > before)
        f->meetings->row_count = base + count;
    return true;
}

/* --- order --- */

static bool sort_meetings(struct fuse_meetings *meetings, uint32_t cells)
{
    size_t *firsts = calloc((size_t)cells + 2, sizeof *firsts);
    struct fuse_meeting *sorted = malloc((meetings->count + 1) * sizeof *sorted);
    bool room = firsts != NULL && sorted != NULL;
    if (room) {
        for (size_t i = 0; i < meetings->count; i++)
            firsts[meetings->meetings[i].result + 1]++;
        for (uint32_t c = 0; c < cells; c++)
            firsts[c + 1] += firsts[c];
        for (size_t i = 0; i < meetings->count; i++)
            sorted[firsts[meetings->meetings[i].result]++] = meetings->meetings[i];
        memcpy(meetings->meetings, sorted, meetings->count * sizeof *sorted);
    }
    free(firsts);
    free(sorted);
    return room;
}

static enum fuse_status find(struct finder *f)
{
    f->keys = calloc((size_t)f->pieces->tables->tensor_count + 1, sizeof *f->keys);
    if (f->keys == NULL || !find_lives(f) || !sort_cells(f))
        return FUSE_OUT_OF_MEMORY;
    if (f->result->live_count > FUSE_MAX_LIVE)
        return FUSE_TOO_LARGE;

    enum fuse_status status = match_all(f);
    for (uint32_t m = 0; status == FUSE_OK && m < f->meetings->matches.count; m++) {
        if (!meet_match(f, m))
            status = FUSE_OUT_OF_MEMORY;
        else if (fuse_is_over(f->limits))
            status = FUSE_STOPPED;
    }
    if (status == FUSE_OK && f->meetings->count > 0 &&
        !sort_meetings(f->meetings, f->result->cell_count))
        status = FUSE_OUT_OF_MEMORY;
    return status;
}

enum fuse_status fuse_meet(const struct fuse_pieces *pieces, const struct fuse_bound *bound,
                           const struct fuse_limits *limits, const struct fuse_level *level,
                           uint32_t e, struct fuse_level *result, struct fuse_meetings *meetings)
{
    memset(result, 0, sizeof *result);
    memset(meetings, 0, sizeof *meetings);
    struct finder f = {
        .pieces = pieces,
        .bound = bound,
        .limits = limits,
        .level = level,
        .e = e,
        .result = result,
        .meetings = meetings,
    };
    enum fuse_status status = find(&f);
    free(f.cells_by_shape);
    free(f.shape_firsts);
    fuse_map_clear(&f.hashes);
    free(f.hash_cells);
    free(f.nexts);
    free(f.keys);
    free(f.entries);
    free(f.laps);
    return status;
}

void fuse_meetings_clear(struct fuse_meetings *meetings)
{
    free(meetings->matches.matches);
    free(meetings->meetings);
    free(meetings->rows);
    free(meetings->rests);
    memset(meetings, 0, sizeof *meetings);
}
