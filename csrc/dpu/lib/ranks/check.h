/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h: whether sets exist, and going through them.
 *
 * A set is a value that programs keep and copy, so every function that takes one checks it first.
 * Functions with _locked need the lock, the other checks take it; going through a set needs it if
 * another thread may free the set meanwhile.
 */
#ifndef OFFCHIP_DPU_LIB_CHECK_H
#define OFFCHIP_DPU_LIB_CHECK_H

#include "dpu.h"
#include "dpu/lib/ranks/rank.h"

#include <stdint.h>

/*
 * DPU_OK if the set exists: one DPU that is enabled, or ranks, none of which has been freed. Else
 * the error, which has a text. Without the lock, another thread can free the set at once: what
 * works on DPUs leaves the check to dpulib_submit().
 */
dpu_error_t dpulib_check_set(struct dpu_set_t set);
dpu_error_t dpulib_check_set_locked(struct dpu_set_t set);
dpu_error_t dpulib_check_rank(const struct dpu_rank_t *rank);
/* An enabled DPU; DPU_ERR_DPU_DISABLED for one that is not. */
dpu_error_t dpulib_check_dpu(const struct dpu_t *dpu);
/* A set of kind DPU that exists: *dpu; else DPU_ERR_INVALID_DPU_SET. */
dpu_error_t dpulib_check_single(struct dpu_set_t set, struct dpu_t **dpu);
/* The kind alone, of a set that was checked. */
dpu_error_t dpulib_check_is_dpu(const struct dpu_set_t *set);

/*
 * The enabled DPUs of a set that was checked, rank by rank in the order of their indexes:
 *     for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
 */
struct dpulib_cursor {
    uint32_t rank, index;
};
static inline struct dpu_t *dpulib_next_dpu(const struct dpu_set_t *set, struct dpulib_cursor *at)
{
    if (set->kind == DPU_SET_DPU)
        return at->index++ == 0 ? set->dpu : NULL;

    for (; at->rank < set->list.nr_ranks; at->rank++, at->index = 0) {
        struct dpu_rank_t *rank = set->list.ranks[at->rank];
        if (rank == NULL)
            return NULL;
        while (at->index < dpulib_rank_size(rank))
            if (rank->dpus[at->index++].enabled)
                return &rank->dpus[at->index - 1];
    }

    return NULL;
}

/* The number of ranks of a set, a DPU's included. */
static inline uint32_t dpulib_set_ranks(const struct dpu_set_t *set)
{
    return set->kind == DPU_SET_DPU ? 1 : set->list.nr_ranks;
}

/* The rank of a number. */
static inline struct dpu_rank_t *dpulib_set_rank(const struct dpu_set_t *set, uint32_t index)
{
    return set->kind == DPU_SET_DPU ? set->dpu->rank : set->list.ranks[index];
}

#endif
