/* SPDX-License-Identifier: BSD-3-Clause */
/* set.c: counting and walking through sets. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"

#include <string.h>

static struct dpu_set_t set_of_rank(struct dpu_rank_t *rank)
{
    struct dpu_set_t set;
    memset(&set, 0, sizeof set);
    set.kind = DPU_SET_RANKS;
    set.list.nr_ranks = 1;
    set.list.ranks = &rank->self;
    return set;
}

static struct dpu_set_t set_of_dpu(struct dpu_t *dpu)
{
    struct dpu_set_t set;
    memset(&set, 0, sizeof set);
    set.kind = DPU_SET_DPU;
    set.dpu = dpu;
    return set;
}

DPU_EXPORT dpu_error_t dpu_get_nr_ranks(struct dpu_set_t dpu_set, uint32_t *nr_ranks)
{
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;
    if (nr_ranks == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the number must not be NULL");
    *nr_ranks = dpulib_set_ranks(&dpu_set);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_get_nr_dpus(struct dpu_set_t dpu_set, uint32_t *nr_dpus)
{
    uint32_t count = 0;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(dpu_set);
    for (struct dpulib_cursor at = {0}; status == DPU_OK && dpulib_next_dpu(&dpu_set, &at) != NULL;)
        count++;

    dpulib_unlock();

    if (status != DPU_OK)
        return status;
    if (nr_dpus == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the number must not be NULL");

    *nr_dpus = count;
    return DPU_OK;
}

/* The rank of that number; NULL if there is none or, since the set has been freed, no more. */
static struct dpu_rank_t *rank_of_set(const struct dpu_set_t *set, uint32_t index)
{
    return index < dpulib_set_ranks(set) ? dpulib_set_rank(set, index) : NULL;
}

static struct dpu_set_rank_iterator_t first_rank(struct dpu_set_t *set)
{
    struct dpu_set_rank_iterator_t iterator;
    memset(&iterator, 0, sizeof iterator);
    iterator.set = set;
    if (set == NULL || dpulib_check_set_locked(*set) != DPU_OK)
        return iterator;

    iterator.has_next = true;
    iterator.next_idx = 1;
    iterator.next = set_of_rank(dpulib_set_rank(set, 0));
    return iterator;
}

static void next_rank(struct dpu_set_rank_iterator_t *iterator)
{
    iterator->count++;
    struct dpu_rank_t *rank = NULL;
    if (iterator->has_next)
        rank = rank_of_set(iterator->set, iterator->next_idx++);
    iterator->has_next = rank != NULL;
    if (rank != NULL)
        iterator->next = set_of_rank(rank);
}

/* Goes to the next enabled DPU from next_idx of the current rank on. */
static void find_dpu(struct dpu_set_dpu_iterator_t *iterator)
{
    struct dpu_set_rank_iterator_t *ranks = &iterator->rank_iterator;
    for (; ranks->has_next; next_rank(ranks), iterator->next_idx = 0) {
        struct dpu_rank_t *rank = ranks->next.list.ranks[0];
        while (iterator->next_idx < dpulib_rank_size(rank)) {
            struct dpu_t *dpu = &rank->dpus[iterator->next_idx++];
            if (dpu->enabled) {
                iterator->next = set_of_dpu(dpu);
                return;
            }
        }
    }

    iterator->has_next = false;
}

DPU_EXPORT struct dpu_set_rank_iterator_t dpu_set_rank_iterator_from(struct dpu_set_t *set)
{
    dpulib_lock();
    struct dpu_set_rank_iterator_t iterator = first_rank(set);
    dpulib_unlock();
    return iterator;
}

DPU_EXPORT void dpu_set_rank_iterator_next(struct dpu_set_rank_iterator_t *iterator)
{
    dpulib_lock();
    next_rank(iterator);
    dpulib_unlock();
}

DPU_EXPORT struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set)
{
    struct dpu_set_dpu_iterator_t iterator;
    memset(&iterator, 0, sizeof iterator);
    dpulib_lock();
    iterator.rank_iterator = first_rank(set);
    iterator.has_next = iterator.rank_iterator.has_next;
    if (iterator.has_next && set->kind == DPU_SET_DPU)
        iterator.next = *set;
    else if (iterator.has_next)
        find_dpu(&iterator);
    dpulib_unlock();
    return iterator;
}

DPU_EXPORT void dpu_set_dpu_iterator_next(struct dpu_set_dpu_iterator_t *iterator)
{
    iterator->count++;
    if (!iterator->has_next || iterator->rank_iterator.set->kind == DPU_SET_DPU) {
        iterator->has_next = false;
        return;
    }
    dpulib_lock();
    find_dpu(iterator);
    dpulib_unlock();
}

DPU_EXPORT struct dpu_set_t dpu_set_from_rank(struct dpu_rank_t **rank)
{
    struct dpu_set_t set;
    memset(&set, 0, sizeof set);
    set.kind = DPU_SET_RANKS;
    set.list.nr_ranks = 1;
    set.list.ranks = rank;
    return set;
}

DPU_EXPORT struct dpu_set_t dpu_set_from_dpu(struct dpu_t *dpu)
{
    return set_of_dpu(dpu);
}

DPU_EXPORT struct dpu_rank_t *dpu_rank_from_set(struct dpu_set_t set)
{
    if (set.kind != DPU_SET_RANKS || set.list.nr_ranks != 1 || set.list.ranks == NULL)
        return NULL;
    return set.list.ranks[0];
}

DPU_EXPORT struct dpu_t *dpu_from_set(struct dpu_set_t set)
{
    return set.kind == DPU_SET_DPU ? set.dpu : NULL;
}
