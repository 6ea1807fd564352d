/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last Einsum before E that uses TENSOR, or FUSE_NONE. */
static uint32_t user_before(const struct fuse_pieces *pieces, uint32_t e, uint32_t tensor)
{
    while (e-- > 0)
        for (uint32_t i = pieces->access_bases[e]; i < pieces->access_bases[e + 1]; i++)
            if (pieces->tables->accesses[i].tensor == tensor)
                return e;
    return FUSE_NONE;
}

static void find_parent(const struct fuse_pieces *pieces, uint32_t e, struct fuse_branch *branch)
{
    branch->tensor = FUSE_NONE;
    branch->parent = FUSE_NONE;
    for (uint32_t i = pieces->access_bases[e]; i < pieces->access_bases[e + 1]; i++) {
        uint32_t tensor = pieces->tables->accesses[i].tensor;
        uint32_t user =
            pieces->tensors[tensor].first < e ? user_before(pieces, e, tensor) : FUSE_NONE;
        if (user != FUSE_NONE && (branch->parent == FUSE_NONE || user > branch->parent)) {
            branch->tensor = tensor;
            branch->parent = user;
        }
    }
}

static uint64_t key_of(const struct fuse_piece *piece, size_t row, uint32_t tensor)
{
    for (uint32_t s = 0; s < piece->shared_count; s++)
        if (piece->shared[s].tensor == tensor)
            return piece->keys[row * piece->shared_count + s];
    return 0;
}

/* Adds the least costs of BRANCH below KEY. */
static bool add_branch(const struct fuse_branch *branch, uint64_t key, uint32_t count,
                       double *costs)
{
    uint32_t number = fuse_map_find(&branch->keys, key);
    if (number == FUSE_NONE)
        return false;
    for (uint32_t i = 0; i < count; i++)
        costs[i] += branch->least[(size_t)number * count + i];
    return true;
}

static bool note_least(struct fuse_branch *branch, uint64_t key, uint32_t count,
                       const double *costs)
{
    uint32_t known = branch->keys.count;
    uint32_t number = fuse_map_add(&branch->keys, key);
    if (number == FUSE_NONE ||
        !fuse_reserve(&branch->least, &branch->room, ((size_t)number + 1) * count, sizeof(double)))
        return false;

    double *least = branch->least + (size_t)number * count;
    for (uint32_t i = 0; i < count; i++)
        least[i] = number == known ? costs[i] : fmin(least[i], costs[i]);
    return true;
}

/* All Einsums after E have their branches. */
static bool build_branch(struct fuse_bound *bound, uint32_t e)
{
    const struct fuse_pieces *pieces = bound->pieces;
    struct fuse_branch *branch = &bound->branches[e];
    uint32_t count = pieces->tables->objective_count;

    for (uint32_t p = pieces->piece_bases[e]; p < pieces->piece_bases[e + 1]; p++) {
        const struct fuse_piece *piece = &pieces->pieces[p];
        for (uint32_t i = 0; i < piece->kept_count; i++) {
            size_t row = piece->kept[i];
            double costs[FUSE_MAX_OBJECTIVES];
            memcpy(costs, piece->objectives + row * count, count * sizeof(double));

            bool fits = true;
            for (uint32_t f = e + 1; fits && f < pieces->tables->einsum_count; f++)
                if (bound->branches[f].parent == e)
                    fits = add_branch(&bound->branches[f],
                                      key_of(piece, row, bound->branches[f].tensor), count, costs);
            uint64_t key = branch->tensor == FUSE_NONE ? 0 : key_of(piece, row, branch->tensor);
            if (fits && !note_least(branch, key, count, costs))
                return false;
        }
    }
    return true;
}

bool fuse_bound_build(struct fuse_bound *bound, const struct fuse_pieces *pieces)
{
    bound->pieces = pieces;
    bound->branches = calloc(pieces->tables->einsum_count, sizeof *bound->branches);
    if (bound->branches == NULL)
        return false;

    for (uint32_t e = 0; e < pieces->tables->einsum_count; e++)
        find_parent(pieces, e, &bound->branches[e]);
    for (uint32_t e = (uint32_t)pieces->tables->einsum_count; e-- > 0;)
        if (!build_branch(bound, e))
            return false;
    return true;
}

void fuse_bound_clear(struct fuse_bound *bound)
{
    for (uint32_t e = 0; bound->branches != NULL && e < bound->pieces->tables->einsum_count; e++) {
        fuse_map_clear(&bound->branches[e].keys);
        free(bound->branches[e].least);
    }
    free(bound->branches);
    memset(bound, 0, sizeof *bound);
}

bool fuse_bound_rest(const struct fuse_bound *bound, uint32_t done, const uint64_t *keys,
                     double *costs)
{
    uint32_t count = bound->pieces->tables->objective_count;
    for (uint32_t e = done; e < bound->pieces->tables->einsum_count; e++) {
        const struct fuse_branch *branch = &bound->branches[e];
        if (branch->parent != FUSE_NONE && branch->parent >= done)
            continue;
        uint64_t key = branch->tensor == FUSE_NONE ? 0 : keys[branch->tensor];
        if (!add_branch(branch, key, count, costs))
            return false;
    }
    return true;
}
