/* SPDX-License-Identifier: BSD-3-Clause */
/* management.c: ranks and DPUs one by one. */
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_description.h"
#include "dpu_management.h"

#include <errno.h>
#include <string.h>

DPU_EXPORT void dpu_lock_rank(struct dpu_rank_t *rank)
{
    if (rank != NULL)
        pthread_mutex_lock(&rank->user_lock);
}

DPU_EXPORT int dpu_trylock_rank(struct dpu_rank_t *rank)
{
    return rank != NULL ? pthread_mutex_trylock(&rank->user_lock) : EINVAL;
}

DPU_EXPORT void dpu_unlock_rank(struct dpu_rank_t *rank)
{
    if (rank != NULL)
        pthread_mutex_unlock(&rank->user_lock);
}

DPU_EXPORT struct dpu_t *dpu_get(struct dpu_rank_t *rank, dpu_slice_id_t slice_id,
                                 dpu_member_id_t dpu_id)
{
    if (dpulib_check_rank(rank) != DPU_OK || slice_id >= DPU_MAX_NR_CIS || dpu_id >= rank->members)
        return NULL;
    return &rank->dpus[slice_id * rank->members + dpu_id];
}

DPU_EXPORT dpu_id_t dpu_get_id(struct dpu_t *dpu)
{
    if (dpu == NULL)
        return UINT32_MAX;
    return dpu->rank->id << 16 | (uint32_t)dpu->slice << 8 | dpu->member;
}

DPU_EXPORT dpu_id_t dpu_get_rank_id(struct dpu_rank_t *rank)
{
    return rank != NULL ? rank->id : UINT32_MAX;
}

DPU_EXPORT int dpu_get_rank_numa_node(struct dpu_rank_t *rank)
{
    (void)rank;
    return -1;
}

DPU_EXPORT struct dpu_rank_t *dpu_get_rank(struct dpu_t *dpu)
{
    return dpu != NULL ? dpu->rank : NULL;
}

DPU_EXPORT dpu_slice_id_t dpu_get_slice_id(struct dpu_t *dpu)
{
    return dpu != NULL ? dpu->slice : UINT8_MAX;
}

DPU_EXPORT dpu_member_id_t dpu_get_member_id(struct dpu_t *dpu)
{
    return dpu != NULL ? dpu->member : UINT8_MAX;
}

DPU_EXPORT bool dpu_is_enabled(struct dpu_t *dpu)
{
    return dpu != NULL && dpu->enabled;
}

DPU_EXPORT dpu_description_t dpu_get_description(struct dpu_rank_t *rank)
{
    return dpulib_check_rank(rank) == DPU_OK ? rank->description : NULL;
}

static void find_enabled(struct dpu_iterator_t *iterator)
{
    struct dpu_rank_t *rank = iterator->rank;
    iterator->has_next = false;
    iterator->next = NULL;
    while (rank != NULL && iterator->next_idx < dpulib_rank_size(rank)) {
        struct dpu_t *dpu = &rank->dpus[iterator->next_idx++];
        if (dpu->enabled) {
            iterator->has_next = true;
            iterator->next = dpu;
            return;
        }
    }
}

DPU_EXPORT struct dpu_iterator_t dpu_iterator_from(struct dpu_rank_t *rank)
{
    struct dpu_iterator_t iterator;
    memset(&iterator, 0, sizeof iterator);
    if (dpulib_check_rank(rank) == DPU_OK)
        iterator.rank = rank;
    find_enabled(&iterator);
    return iterator;
}

DPU_EXPORT void dpu_iterator_next(struct dpu_iterator_t *iterator)
{
    iterator->count++;
    find_enabled(iterator);
}
