/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/join/pareto.h"

/* Rounds after which the filter is content with what it has dropped. */
#define MAX_ROUNDS 64

/* --- keys --- */

/* The keys of one tensor, and how many Einsums have each, counted up to the first that has not. */
struct census {
    struct fuse_map map;
    uint32_t *users;
    size_t room;
};

static uint32_t find_shared(const struct fuse_piece *piece, uint32_t tensor)
{
    for (uint32_t s = 0; s < piece->shared_count; s++)
        if (piece->shared[s].tensor == tensor)
            return s;
    return FUSE_NONE;
}

static bool uses(const struct fuse_pieces *pieces, uint32_t e, uint32_t tensor)
{
    for (uint32_t i = pieces->access_bases[e]; i < pieces->access_bases[e + 1]; i++)
        if (pieces->tables->accesses[i].tensor == tensor)
            return true;
    return false;
}

/* Notes that an Einsum has KEY; USERS earlier ones use the tensor. */
static bool count_key(struct census *census, uint64_t key, uint32_t users)
{
    uint32_t number =
        users == 0 ? fuse_map_add(&census->map, key) : fuse_map_find(&census->map, key);
    if (number == FUSE_NONE)
        return users > 0;
    if (!fuse_reserve(&census->users, &census->room, (size_t)number + 1, sizeof *census->users))
        return false;

    if (users == 0 || census->users[number] == users)
        census->users[number] = users + 1;
    return true;
}

static bool take_census(const struct fuse_pieces *pieces, uint32_t tensor, struct census *census,
                        uint32_t *users)
{
    *users = 0;
    for (uint32_t e = pieces->tensors[tensor].first; e <= pieces->tensors[tensor].last; e++) {
        if (!uses(pieces, e, tensor))
            continue;
        for (uint32_t p = pieces->piece_bases[e]; p < pieces->piece_bases[e + 1]; p++) {
            const struct fuse_piece *piece = &pieces->pieces[p];
            uint32_t s = find_shared(piece, tensor);
            for (uint32_t i = 0; i < piece->kept_count; i++) {
                size_t row = piece->kept[i];
                if (!count_key(census, piece->keys[row * piece->shared_count + s], *users))
                    return false;
            }
        }
        (*users)++;
    }
    return true;
}

/* Returns how many rows are dropped. */
static size_t drop_rows(struct fuse_pieces *pieces, uint32_t tensor, const struct census *census,
                        uint32_t users)
{
    size_t dropped = 0;
    uint32_t first = pieces->tensors[tensor].first;
    uint32_t last = pieces->tensors[tensor].last;
    for (uint32_t p = pieces->piece_bases[first]; p < pieces->piece_bases[last + 1]; p++) {
        struct fuse_piece *piece = &pieces->pieces[p];
        uint32_t s = find_shared(piece, tensor);
        uint32_t kept = 0;
        for (uint32_t i = 0; s != FUSE_NONE && i < piece->kept_count; i++) {
            size_t row = piece->kept[i];
            uint32_t number =
                fuse_map_find(&census->map, piece->keys[row * piece->shared_count + s]);
            if (number != FUSE_NONE && census->users[number] == users)
                piece->kept[kept++] = piece->kept[i];
        }
        if (s == FUSE_NONE)
            continue;
        dropped += piece->kept_count - kept;
        piece->kept_count = kept;
    }
    return dropped;
}

static bool filter_tensor(struct fuse_pieces *pieces, uint32_t tensor, size_t *dropped)
{
    struct census census = {0};
    uint32_t users = 0;
    bool done = take_census(pieces, tensor, &census, &users);
    if (done)
        *dropped += drop_rows(pieces, tensor, &census, users);
    fuse_map_clear(&census.map);
    free(census.users);
    return done;
}

static enum fuse_status check_rows(const struct fuse_pieces *pieces, struct fuse_fault *fault)
{
    for (uint32_t e = 0; e < pieces->tables->einsum_count; e++) {
        uint32_t kept = 0;
        for (uint32_t p = pieces->piece_bases[e]; p < pieces->piece_bases[e + 1]; p++)
            kept |= pieces->pieces[p].kept_count;
        if (kept == 0) {
            *fault = (struct fuse_fault){FUSE_NOTHING_JOINS, e, FUSE_NONE, FUSE_NONE};
            return FUSE_NOTHING_JOINS;
        }
    }
    return FUSE_OK;
}

enum fuse_status fuse_filter_keys(struct fuse_pieces *pieces, struct fuse_fault *fault)
{
    size_t dropped = 1;
    for (int round = 0; dropped > 0 && round < MAX_ROUNDS; round++) {
        dropped = 0;
        for (uint32_t t = 0; t < pieces->tables->tensor_count; t++)
            if (fuse_is_fused(pieces, t) && !filter_tensor(pieces, t, &dropped))
                return FUSE_OUT_OF_MEMORY;
    }
    return check_rows(pieces, fault);
}

/* --- tolerances --- */

static double rounded(double x, double tolerance)
{
    return tolerance > 0 && x > 0 ? round(log(x) / log1p(tolerance)) : x;
}

/* Sets the numbers by which a row is compared; returns how many. */
static uint32_t compare_by(const struct fuse_pieces *pieces, const struct fuse_piece *piece,
                           size_t row, double objective_tolerance, double usage_tolerance,
                           double *numbers)
{
    uint32_t count = 0;
    uint32_t objectives = pieces->tables->objective_count;
    for (uint32_t i = 0; i < objectives; i++)
        numbers[count++] = rounded(piece->objectives[row * objectives + i], objective_tolerance);
    size_t width = fuse_load_width(pieces, piece->loop_count);
    for (size_t i = 0; i < width; i++)
        numbers[count++] = rounded(piece->loads[row * width + i], usage_tolerance);
    for (uint32_t s = 0; s < piece->shared_count; s++)
        if (pieces->tracked[piece->shared[s].memory] != FUSE_NONE)
            numbers[count++] = rounded(piece->shared[s].sizes[row], usage_tolerance);
    return count;
}

static uint64_t hash_laps(const struct fuse_piece *piece, size_t row)
{
    uint64_t hash = 0;
    for (uint32_t l = 0; l < piece->loop_count; l++)
        hash = fuse_mix(hash ^ piece->laps[row * piece->loop_count + l]);
    return hash;
}

/* Rows sorted by their laps. */
struct classes {
    struct fuse_map map;
    uint32_t *of;     /* per kept row */
    uint32_t *firsts; /* per class, and the end */
    uint32_t *rows;
};

static bool classify(const struct fuse_piece *piece, struct classes *classes)
{
    size_t kept = piece->kept_count;
    classes->of = calloc(kept + 1, sizeof *classes->of);
    classes->firsts = calloc(kept + 2, sizeof *classes->firsts);
    classes->rows = calloc(kept + 1, sizeof *classes->rows);
    if (classes->of == NULL || classes->firsts == NULL || classes->rows == NULL)
        return false;

    for (size_t i = 0; i < kept; i++) {
        classes->of[i] = fuse_map_add(&classes->map, hash_laps(piece, piece->kept[i]));
        if (classes->of[i] == FUSE_NONE)
            return false;
        classes->firsts[classes->of[i] + 1]++;
    }
    for (uint32_t c = 0; c < classes->map.count; c++)
        classes->firsts[c + 1] += classes->firsts[c];
    for (size_t i = kept; i-- > 0;)
        classes->rows[--classes->firsts[classes->of[i] + 1]] = piece->kept[i];
    return true;
}

static bool keep_front(const struct fuse_pieces *pieces, struct fuse_piece *piece,
                       const uint32_t *rows, size_t count, double objective_tolerance,
                       double usage_tolerance, struct fuse_front *front)
{
    double
        numbers[FUSE_MAX_OBJECTIVES + FUSE_MAX_MEMORIES * (FUSE_MAX_LOOPS + 2) + FUSE_MAX_HOLDERS];
    for (size_t i = 0; i < count; i++) {
        uint32_t width =
            compare_by(pieces, piece, rows[i], objective_tolerance, usage_tolerance, numbers);
        if (i == 0)
            fuse_front_reset(front, width, width);
        if (!fuse_front_add(front, numbers, rows[i]))
            return false;
    }
    if (!fuse_front_reduce(front))
        return false;
    for (size_t i = 0; i < front->count; i++)
        piece->kept[piece->kept_count++] = (uint32_t)fuse_front_tag(front, i);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static enum fuse_status filter_piece(const struct fuse_pieces *pieces, struct fuse_piece *piece,
                                     double objective_tolerance, double usage_tolerance)
{
    struct classes classes = {0};
    struct fuse_front front = {0};
    uint32_t rows = piece->kept_count;
    bool done = classify(piece, &classes);
    if (done)
        piece->kept_count = 0;
    for (uint32_t c = 0; done && c < classes.map.count; c++) {
        uint32_t first = classes.firsts[c + 1];
        uint32_t end = c + 1 < classes.map.count ? classes.firsts[c + 2] : rows;
        done = keep_front(pieces, piece, classes.rows + first, end - first, objective_tolerance,
                          usage_tolerance, &front);
    }
    qsort(piece->kept, piece->kept_count, sizeof *piece->kept, compare_rows);

    fuse_map_clear(&classes.map);
    free(classes.of);
    free(classes.firsts);
    free(classes.rows);
    fuse_front_clear(&front);
    return done ? FUSE_OK : FUSE_OUT_OF_MEMORY;
}

enum fuse_status fuse_filter_alike(struct fuse_pieces *pieces, double objective_tolerance,
                                   double usage_tolerance)
{
    enum fuse_status status = FUSE_OK;
    bool exact = !(objective_tolerance > 0) && !(usage_tolerance > 0);
    if (exact && pieces->tracked_count == pieces->tables->memory_count)
        return status;
    for (uint32_t p = 0; status == FUSE_OK && p < pieces->piece_count; p++)
        status = filter_piece(pieces, &pieces->pieces[p], objective_tolerance, usage_tolerance);
    return status;
}
