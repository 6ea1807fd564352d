/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct fuse_pieces *pieces;
    const struct fuse_tables *tables;
    struct fuse_fault *fault;
    /* Where the group that is being prepared begins. */
    size_t loop;
    size_t holder;
    size_t reservation;
    size_t stop;
    size_t tile;
    size_t objective;
    size_t value;
    size_t rank;
    size_t bound;
};

static void *zeroed(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

/* --- tensors --- */

static const struct fuse_access *accesses_of(const struct fuse_pieces *pieces, uint32_t e)
{
    return &pieces->tables->accesses[pieces->access_bases[e]];
}

static uint32_t root_of(const struct fuse_pieces *pieces, uint32_t tensor)
{
    while (pieces->tensors[tensor].root != tensor)
        tensor = pieces->tensors[tensor].root;
    return tensor;
}

/* The outputs of a copy are its first input. */
static void note_copies(struct fuse_pieces *pieces, uint32_t e)
{
    const struct fuse_access *accesses = accesses_of(pieces, e);
    uint32_t count = pieces->tables->einsums[e].tensors;
    uint32_t source = FUSE_NONE;
    for (uint32_t i = count; i-- > 0;)
        if (!accesses[i].output)
            source = root_of(pieces, accesses[i].tensor);
    for (uint32_t i = 0; i < count && source != FUSE_NONE; i++)
        if (accesses[i].output)
            pieces->tensors[root_of(pieces, accesses[i].tensor)].root = source;
}

static bool note_tensors(struct fuse_pieces *pieces)
{
    const struct fuse_tables *tables = pieces->tables;
    pieces->tensors = zeroed(tables->tensor_count, sizeof *pieces->tensors);
    pieces->access_bases = zeroed(tables->einsum_count + 1, sizeof *pieces->access_bases);
    pieces->piece_bases = zeroed(tables->einsum_count + 1, sizeof *pieces->piece_bases);
    if (pieces->tensors == NULL || pieces->access_bases == NULL || pieces->piece_bases == NULL)
        return false;
    for (uint32_t t = 0; t < tables->tensor_count; t++)
        pieces->tensors[t] = (struct fuse_tensor){FUSE_NONE, FUSE_NONE, t};

    for (uint32_t e = 0; e < tables->einsum_count; e++) {
        pieces->access_bases[e + 1] = pieces->access_bases[e] + tables->einsums[e].tensors;
        pieces->piece_bases[e + 1] = pieces->piece_bases[e] + tables->einsums[e].groups;
        for (uint32_t i = 0; i < tables->einsums[e].tensors; i++) {
            struct fuse_tensor *tensor = &pieces->tensors[accesses_of(pieces, e)[i].tensor];
            if (tensor->first == FUSE_NONE)
                tensor->first = e;
            tensor->last = e;
        }
        if (tables->einsums[e].copy)
            note_copies(pieces, e);
    }
    for (uint32_t t = 0; t < tables->tensor_count; t++)
        pieces->tensors[t].root = root_of(pieces, t);
    return true;
}

/* --- laps --- */

static bool number_laps(struct builder *b, struct fuse_piece *piece)
{
    const int64_t *tiles = b->tables->tiles + b->tile;
    const double *bounds = b->tables->bounds + b->bound;
    uint32_t n = piece->loop_count;
    piece->laps = zeroed((size_t)piece->rows * n, sizeof *piece->laps);
    if (piece->laps == NULL)
        return false;

    for (size_t row = 0; row < piece->rows; row++)
        for (uint32_t l = 0; l < n; l++) {
            uint32_t variable = piece->loops[l].variable;
            double bound = bounds[variable];
            double extent = bound;
            for (uint32_t outer = 0; outer < l; outer++)
                if (piece->loops[outer].variable == variable)
                    extent = (double)tiles[row * n + outer];

            double tile = bound <= 1 ? 1 : (double)tiles[row * n + l];
            double iterations = ceil(extent / tile);
            uint64_t key = fuse_mix((uint64_t)tile) ^ (uint64_t)iterations;
            uint32_t lap = fuse_map_add(&b->pieces->laps, key);
            if (lap == FUSE_NONE)
                return false;
            piece->laps[row * n + l] = lap;
        }
    return true;
}

/* --- order of loops --- */

static void add_stop(uint32_t *before, uint32_t n, uint32_t depth)
{
    for (uint32_t l = depth; l < n; l++)
        before[l] |= depth == 0 ? 0 : UINT32_MAX >> (32 - depth);
}

static uint32_t depth_of(uint32_t depth)
{
    return depth == FUSE_NONE ? 0 : depth;
}

static void order_loops(const struct builder *b, const struct fuse_group *group,
                        struct fuse_piece *piece)
{
    uint32_t n = piece->loop_count;
    for (uint32_t s = 0; s < group->stops; s++)
        add_stop(piece->before, n, b->tables->stops[b->stop + s]);
    for (uint32_t h = 0; h < group->holders; h++)
        add_stop(piece->before, n, depth_of(b->tables->holders[b->holder + h].depth));
    for (uint32_t r = 0; r < group->reservations; r++)
        add_stop(piece->before, n, depth_of(b->tables->reservations[b->reservation + r].depth));

    for (uint32_t l = 0; l < n; l++)
        for (uint32_t outer = 0; outer < l; outer++)
            if (piece->loops[outer].variable == piece->loops[l].variable)
                piece->before[l] |= UINT32_C(1) << outer;
}

/* --- fused tensors --- */

static uint32_t access_of(const struct fuse_pieces *pieces, uint32_t e, uint32_t tensor)
{
    uint32_t i = 0;
    while (accesses_of(pieces, e)[i].tensor != tensor)
        i++;
    return i;
}

static enum fuse_status find_shared(struct builder *b, const struct fuse_group *group,
                                    struct fuse_piece *piece)
{
    struct fuse_pieces *pieces = b->pieces;
    uint32_t e = piece->einsum;
    const struct fuse_einsum *einsum = &b->tables->einsums[e];
    piece->shared = zeroed(group->holders, sizeof *piece->shared);
    if (piece->shared == NULL)
        return FUSE_OUT_OF_MEMORY;

    for (uint32_t h = 0; h < group->holders; h++) {
        const struct fuse_holder *holder = &b->tables->holders[b->holder + h];
        if (!fuse_is_fused(pieces, holder->tensor))
            continue;
        uint32_t access = access_of(pieces, e, holder->tensor);
        uint32_t depth = depth_of(holder->depth);
        piece->shared[piece->shared_count++] = (struct fuse_shared){
            .tensor = holder->tensor,
            .memory = holder->memory,
            .depth = depth,
            .persistent = holder->depth == FUSE_NONE,
            .above = depth == 0 ? 0 : UINT32_MAX >> (32 - depth),
            .ranks = b->tables->ranks + b->rank + (size_t)access * einsum->variables,
            .sizes = b->tables->values + b->value + (size_t)h * group->rows,
        };
    }

    for (uint32_t i = 0; i < einsum->tensors; i++) {
        uint32_t tensor = accesses_of(pieces, e)[i].tensor;
        b->fault->tensor = tensor;
        bool held = !fuse_is_fused(pieces, tensor);
        for (uint32_t s = 0; s < piece->shared_count; s++)
            held = held || piece->shared[s].tensor == tensor;
        if (!held)
            return FUSE_MISSING_TENSOR;
    }
    b->fault->tensor = FUSE_NONE;
    return FUSE_OK;
}

static bool make_keys(struct fuse_piece *piece)
{
    uint32_t n = piece->loop_count;
    piece->keys = zeroed((size_t)piece->rows * piece->shared_count, sizeof *piece->keys);
    if (piece->keys == NULL)
        return false;

    for (uint32_t s = 0; s < piece->shared_count; s++) {
        const struct fuse_shared *shared = &piece->shared[s];
        for (size_t row = 0; row < piece->rows; row++) {
            uint64_t key = fuse_mix(shared->memory) + (shared->persistent ? 1 : 0);
            for (uint32_t l = 0; l < shared->depth; l++) {
                uint64_t loop = fuse_mix(shared->ranks[piece->loops[l].variable]);
                loop = fuse_mix(loop ^ piece->loops[l].kind);
                key += fuse_mix(loop ^ piece->laps[row * n + l]);
            }
            piece->keys[row * piece->shared_count + s] = key;
        }
    }
    return true;
}

/* --- what memories hold --- */

/* True if fused tensor S of a copy is in one buffer with an earlier one of its tensors. */
static bool is_counted_already(const struct fuse_pieces *pieces, const struct fuse_piece *piece,
                               uint32_t s)
{
    if (!pieces->tables->einsums[piece->einsum].copy)
        return false;
    uint32_t own = access_of(pieces, piece->einsum, piece->shared[s].tensor);
    for (uint32_t i = 0; i < piece->shared_count; i++)
        if (i != s && piece->shared[i].memory == piece->shared[s].memory &&
            access_of(pieces, piece->einsum, piece->shared[i].tensor) < own)
            return true;
    return false;
}

/* The tensors of a copy that share a buffer take as much as the smallest. */
static bool merge_sizes(struct fuse_piece *piece)
{
    size_t rows = piece->rows;
    piece->merged = zeroed(rows * piece->shared_count, sizeof *piece->merged);
    if (piece->merged == NULL)
        return false;

    for (uint32_t s = 0; s < piece->shared_count; s++)
        for (size_t row = 0; row < rows; row++) {
            double size = piece->shared[s].sizes[row];
            for (uint32_t i = 0; i < piece->shared_count; i++)
                if (piece->shared[i].memory == piece->shared[s].memory)
                    size = fmin(size, piece->shared[i].sizes[row]);
            piece->merged[s * rows + row] = size;
        }
    for (uint32_t s = 0; s < piece->shared_count; s++)
        piece->shared[s].sizes = piece->merged + s * rows;
    return true;
}

/* Adds SIZE, held below DEPTH loops, to the sums of what is held above each depth. */
static void add_above(double *above, uint32_t n, uint32_t depth, double size)
{
    for (uint32_t d = depth == FUSE_NONE ? 0 : depth + 1; d <= n; d++)
        above[d] += size;
}

static void raise(double *most, double x)
{
    if (x > *most)
        *most = x;
}

/*
 * Adds up what a row holds: all of it to OWN, what is not fused to ABOVE unless that is NULL.
 * Memories are numbered among those tracked, or all of them if BY_MEMORY.
 */
static void load_row(const struct builder *b, const struct fuse_group *group,
                     const struct fuse_piece *piece, size_t row, double *own, double *above,
                     bool by_memory)
{
    const struct fuse_pieces *pieces = b->pieces;
    const double *values = b->tables->values + b->value;
    size_t width = (size_t)piece->loop_count + 1;

    uint32_t s = 0;
    for (uint32_t i = 0; i < group->holders + group->reservations; i++) {
        bool holder = i < group->holders;
        const struct fuse_holder *h = &b->tables->holders[b->holder + i];
        const struct fuse_reservation *r =
            &b->tables->reservations[b->reservation + i - group->holders];
        uint32_t memory = holder ? h->memory : r->memory;
        uint32_t m = by_memory ? memory : pieces->tracked[memory];
        double size = values[(size_t)i * group->rows + row];

        bool fused = holder && fuse_is_fused(pieces, h->tensor);
        if (fused) {
            size = is_counted_already(pieces, piece, s) ? 0 : piece->shared[s].sizes[row];
            s++;
        }
        if (m == FUSE_NONE)
            continue;
        own[m] += size;
        if (!fused && above != NULL)
            add_above(above + m * width, piece->loop_count, holder ? h->depth : r->depth, size);
    }
}

static bool fill_loads(struct builder *b, const struct fuse_group *group, struct fuse_piece *piece)
{
    struct fuse_pieces *pieces = b->pieces;
    uint32_t count = pieces->tracked_count;
    size_t width = fuse_load_width(pieces, piece->loop_count);
    piece->loads = zeroed(piece->rows * width, sizeof *piece->loads);
    if (piece->loads == NULL)
        return false;

    for (size_t row = 0; row < piece->rows; row++) {
        double *own = piece->loads + row * width;
        load_row(b, group, piece, row, own, own + count, false);
    }
    return true;
}

/* --- which memories to track --- */

static void sum_most(struct builder *b, const struct fuse_group *group, struct fuse_piece *piece,
                     double *most)
{
    for (size_t row = 0; row < piece->rows; row++) {
        double own[FUSE_MAX_MEMORIES] = {0};
        load_row(b, group, piece, row, own, NULL, true);
        for (uint32_t m = 0; m < b->tables->memory_count; m++)
            raise(&most[m], own[m]);
    }
}

static void track(struct fuse_pieces *pieces, const double *sums, bool all)
{
    for (uint32_t m = 0; m < pieces->tables->memory_count; m++) {
        pieces->tracked[m] = FUSE_NONE;
        if (sums[m] <= 0 || (sums[m] <= 1 && !all))
            continue;
        pieces->memories[pieces->tracked_count] = m;
        pieces->tracked[m] = pieces->tracked_count++;
    }
}

/* --- what later Einsums can add --- */

static void note_most(struct fuse_pieces *pieces, const struct fuse_piece *piece)
{
    uint32_t count = pieces->tracked_count;
    uint32_t n = piece->loop_count;
    size_t width = fuse_load_width(pieces, n);
    size_t base = (size_t)piece->einsum * count;

    for (size_t row = 0; row < piece->rows; row++) {
        const double *own = piece->loads + row * width;
        double above[FUSE_MAX_MEMORIES];
        double always[FUSE_MAX_MEMORIES];
        for (uint32_t m = 0; m < count; m++) {
            always[m] = own[count + m * (n + 1)];
            above[m] = own[count + m * (n + 1) + n];
        }
        for (uint32_t s = 0; s < piece->shared_count; s++) {
            uint32_t m = pieces->tracked[piece->shared[s].memory];
            if (m == FUSE_NONE)
                continue;
            above[m] += piece->shared[s].sizes[row];
            if (piece->shared[s].persistent)
                always[m] += piece->shared[s].sizes[row];
        }
        for (uint32_t m = 0; m < count; m++) {
            raise(&pieces->most_own[base + m], own[m]);
            raise(&pieces->most_above[base + m], above[m]);
            raise(&pieces->most_always[base + m], always[m]);
        }
    }
}

/* --- groups --- */

static enum fuse_status build_piece(struct builder *b, const struct fuse_group *group,
                                    struct fuse_piece *piece)
{
    piece->rows = group->rows;
    piece->loop_count = group->loops;
    piece->loops = b->tables->loops + b->loop;
    piece->objectives = b->tables->objectives + b->objective;
    piece->kept = zeroed(piece->rows, sizeof *piece->kept);
    if (piece->kept == NULL || !number_laps(b, piece))
        return FUSE_OUT_OF_MEMORY;
    piece->kept_count = piece->rows;
    for (uint32_t row = 0; row < piece->rows; row++)
        piece->kept[row] = row;

    order_loops(b, group, piece);
    enum fuse_status status = find_shared(b, group, piece);
    bool copy = b->tables->einsums[piece->einsum].copy;
    if (status == FUSE_OK && (!make_keys(piece) || (copy && !merge_sizes(piece))))
        status = FUSE_OUT_OF_MEMORY;
    return status;
}

static void advance(struct builder *b, const struct fuse_group *group)
{
    b->loop += group->loops;
    b->holder += group->holders;
    b->reservation += group->reservations;
    b->stop += group->stops;
    b->tile += (size_t)group->rows * group->loops;
    b->objective += (size_t)group->rows * b->tables->objective_count;
    b->value += (size_t)group->rows * ((size_t)group->holders + group->reservations);
}

/* Calls STEP for all groups; the fault names the one that fails. */
static enum fuse_status for_groups(struct builder *b,
                                   enum fuse_status (*step)(struct builder *b,
                                                            const struct fuse_group *group,
                                                            struct fuse_piece *piece, double *most),
                                   double *most)
{
    b->loop = b->holder = b->reservation = b->stop = b->tile = b->objective = b->value = 0;
    b->rank = b->bound = 0;
    uint32_t p = 0;
    for (uint32_t e = 0; e < b->tables->einsum_count; e++) {
        const struct fuse_einsum *einsum = &b->tables->einsums[e];
        uint32_t first_row = 0;
        for (uint32_t g = 0; g < einsum->groups; g++, p++) {
            struct fuse_piece *piece = &b->pieces->pieces[p];
            piece->einsum = e;
            piece->group = g;
            piece->first_row = first_row;
            first_row += b->tables->groups[p].rows;
            b->fault->einsum = e;
            b->fault->group = g;
            enum fuse_status status =
                step(b, &b->tables->groups[p], piece,
                     most == NULL ? NULL : most + (size_t)e * b->tables->memory_count);
            if (status != FUSE_OK)
                return status;
            advance(b, &b->tables->groups[p]);
        }
        b->rank += (size_t)einsum->tensors * einsum->variables;
        b->bound += einsum->variables;
    }
    return FUSE_OK;
}

static enum fuse_status first_step(struct builder *b, const struct fuse_group *group,
                                   struct fuse_piece *piece, double *most)
{
    enum fuse_status status = build_piece(b, group, piece);
    if (status == FUSE_OK)
        sum_most(b, group, piece, most);
    return status;
}

static enum fuse_status second_step(struct builder *b, const struct fuse_group *group,
                                    struct fuse_piece *piece, double *most)
{
    (void)most;
    if (!fill_loads(b, group, piece))
        return FUSE_OUT_OF_MEMORY;
    note_most(b->pieces, piece);
    return FUSE_OK;
}

static enum fuse_status track_memories(struct builder *b, bool all)
{
    const struct fuse_tables *tables = b->tables;
    double *most = zeroed((size_t)tables->einsum_count * (tables->memory_count + 1), sizeof *most);
    if (most == NULL)
        return FUSE_OUT_OF_MEMORY;

    enum fuse_status status = for_groups(b, first_step, most);
    if (status == FUSE_OK) {
        double sums[FUSE_MAX_MEMORIES] = {0};
        for (uint32_t e = 0; e < tables->einsum_count; e++)
            for (uint32_t m = 0; m < tables->memory_count; m++)
                sums[m] += most[(size_t)e * tables->memory_count + m];
        track(b->pieces, sums, all);
    }
    free(most);
    return status;
}

static bool has_rows(const struct fuse_pieces *pieces, uint32_t e)
{
    for (uint32_t p = pieces->piece_bases[e]; p < pieces->piece_bases[e + 1]; p++)
        if (pieces->pieces[p].rows > 0)
            return true;
    return false;
}

enum fuse_status fuse_pieces_build(struct fuse_pieces *pieces, const struct fuse_tables *tables,
                                   bool all_memories, struct fuse_fault *fault)
{
    memset(pieces, 0, sizeof *pieces);
    pieces->tables = tables;
    *fault = (struct fuse_fault){FUSE_OK, FUSE_NONE, FUSE_NONE, FUSE_NONE};
    struct builder b = {.pieces = pieces, .tables = tables, .fault = fault};

    pieces->pieces = zeroed(tables->group_count, sizeof *pieces->pieces);
    pieces->piece_count = pieces->pieces == NULL ? 0 : (uint32_t)tables->group_count;
    enum fuse_status status = FUSE_OUT_OF_MEMORY;
    if (pieces->pieces != NULL && note_tensors(pieces))
        status = track_memories(&b, all_memories);

    size_t numbers = tables->einsum_count * ((size_t)pieces->tracked_count + 1);
    if (status == FUSE_OK) {
        pieces->most_own = zeroed(numbers, sizeof(double));
        pieces->most_above = zeroed(numbers, sizeof(double));
        pieces->most_always = zeroed(numbers, sizeof(double));
        status =
            pieces->most_own == NULL || pieces->most_above == NULL || pieces->most_always == NULL
                ? FUSE_OUT_OF_MEMORY
                : for_groups(&b, second_step, NULL);
    }
    for (uint32_t e = 0; status == FUSE_OK && e < tables->einsum_count; e++)
        if (!has_rows(pieces, e)) {
            fault->einsum = e;
            fault->group = FUSE_NONE;
            status = FUSE_NO_ROWS;
        }
    fault->status = status;
    return status;
}

void fuse_pieces_clear(struct fuse_pieces *pieces)
{
    for (uint32_t p = 0; p < pieces->piece_count; p++) {
        free(pieces->pieces[p].shared);
        free(pieces->pieces[p].merged);
        free(pieces->pieces[p].laps);
        free(pieces->pieces[p].keys);
        free(pieces->pieces[p].loads);
        free(pieces->pieces[p].kept);
    }
    free(pieces->pieces);
    free(pieces->tensors);
    free(pieces->piece_bases);
    free(pieces->access_bases);
    fuse_map_clear(&pieces->laps);
    free(pieces->most_own);
    free(pieces->most_above);
    free(pieces->most_always);
    memset(pieces, 0, sizeof *pieces);
}
