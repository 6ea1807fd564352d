/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/ranks/check.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/allocation.h"
#include "dpu/lib/ranks/rank.h"

static dpu_error_t check_rank(const struct dpu_rank_t *rank)
{
    if (rank == NULL || !rank->alive)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this set has been freed, or never existed");
    if (rank->generation != dpulib_generation())
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                           "this set belongs to the process that this one was forked from; "
                           "allocate another one here");
    return DPU_OK;
}

dpu_error_t dpulib_check_set_locked(struct dpu_set_t set)
{
    dpu_error_t status = DPU_OK;
    if (set.kind == DPU_SET_DPU) {
        if (set.dpu == NULL)
            return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this set has no DPU");
        status = check_rank(set.dpu->rank);
        if (status == DPU_OK && !set.dpu->enabled)
            status = dpulib_fail(DPU_ERR_DPU_DISABLED,
                                 "this DPU was not asked for when its rank was allocated");
        return status;
    }
    if (set.kind != DPU_SET_RANKS)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "not a DPU set (kind %d)", (int)set.kind);
    if (set.list.nr_ranks == 0 || set.list.ranks == NULL)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this set has no ranks");
    if (set.list.nr_ranks > 1 && !dpulib_may_have_ranks(set.list.ranks, set.list.nr_ranks))
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                           "this set has been freed, or does not have %u ranks", set.list.nr_ranks);

    for (uint32_t i = 0; i < set.list.nr_ranks && status == DPU_OK; i++)
        status = check_rank(set.list.ranks[i]);
    return status;
}

dpu_error_t dpulib_check_set(struct dpu_set_t set)
{
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    dpulib_unlock();
    return status;
}

dpu_error_t dpulib_check_rank(const struct dpu_rank_t *rank)
{
    dpulib_lock();
    dpu_error_t status = check_rank(rank);
    dpulib_unlock();
    return status;
}

dpu_error_t dpulib_check_dpu(const struct dpu_t *dpu)
{
    return dpulib_check_set((struct dpu_set_t){.kind = DPU_SET_DPU, .dpu = (struct dpu_t *)dpu});
}

dpu_error_t dpulib_check_is_dpu(const struct dpu_set_t *set)
{
    if (set->kind == DPU_SET_DPU)
        return DPU_OK;
    return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this function takes a single DPU, not ranks");
}

dpu_error_t dpulib_check_single(struct dpu_set_t set, struct dpu_t **dpu)
{
    dpu_error_t status = dpulib_check_set(set);
    if (status == DPU_OK)
        status = dpulib_check_is_dpu(&set);
    if (status == DPU_OK)
        *dpu = set.dpu;
    return status;
}
