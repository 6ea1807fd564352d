/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc.c: taking ranks, and giving them back.
 *
 * The process has so many ranks as the profile (softNrRanks) or DPU_SOFT_RANKS says, 40 unless
 * told, which is a full server. DPU_ALLOCATE_ALL takes all of them if the user has said how many
 * there are, and else one rank: 2,560 simulated DPUs are not what a program means that just wants
 * what is there.
 */
#include "common/clock.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/ranks/allocation.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/remote.h"
#include "dpu/lib/schedule/calls.h"
#include "dpu/lib/schedule/perform.h"
#include "dpu/lib/schedule/operation.h"
#include "dpu/lib/schedule/pool.h"

#include <stdlib.h>
#include <string.h>

static bool is_taken(uint32_t id)
{
    for (struct list_node *at = dpulib_ranks.first; at != NULL; at = at->next)
        if (dpulib_rank_at(at)->id == id)
            return true;
    return false;
}

/* With the lock: the lowest ids that are free, as many as there are up to COUNT. */
static uint32_t choose_ids(uint32_t limit, uint32_t count, uint32_t *ids)
{
    uint32_t found = 0;
    for (uint32_t id = 0; id < limit && found < count; id++)
        if (!is_taken(id))
            ids[found++] = id;
    return found;
}

static void destroy_ranks(struct dpulib_allocation *allocation)
{
    for (uint32_t i = 0; i < allocation->count; i++)
        if (allocation->ranks[i] != NULL)
            dpulib_rank_destroy(allocation->ranks[i]);
    dpulib_allocation_give_back(allocation);
}

/* Gives the ranks their ids, and makes them known: all or none. */
static dpu_error_t publish(struct dpulib_allocation *allocation,
                           const struct dpulib_configuration *configuration, uint32_t *ids)
{
    dpulib_lock();
    if (choose_ids(configuration->ranks, allocation->count, ids) < allocation->count) {
        dpulib_unlock();
        return dpulib_fail(DPU_ERR_ALLOCATION,
                           "%u ranks were requested, but of the %u that are simulated fewer are "
                           "free; set DPU_SOFT_RANKS or softNrRanks in the profile for more",
                           allocation->count, configuration->ranks);
    }

    for (uint32_t i = 0; i < allocation->count; i++) {
        struct dpu_rank_t *rank = allocation->ranks[i];
        rank->id = ids[i];
        rank->alive = true;
        rank->ending = false;
        rank->generation = dpulib_generation();
        rank->queued = 0;
        list_append(&dpulib_ranks, &rank->node);
    }

    allocation->generation = dpulib_generation();
    list_prepend(&dpulib_allocations, &allocation->node);
    if (configuration->host_threads != 0)
        dpulib_pool_set_limit(configuration->host_threads);
    dpulib_unlock();
    return DPU_OK;
}

/* COUNT ranks with DPUS DPUs in all. */
static dpu_error_t allocate(const struct dpulib_configuration *configuration, uint32_t count,
                            uint32_t dpus, bool by_rank, struct dpulib_allocation **made)
{
    uint32_t *ids = calloc(configuration->ranks, sizeof *ids);
    if (ids == NULL)
        return dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (ranks)");

    struct dpulib_allocation *allocation = NULL;
    dpu_error_t status = DPU_OK;

    /* Before the work; publish() looks again. */
    dpulib_lock();
    uint32_t found = choose_ids(configuration->ranks, count, ids);
    dpulib_unlock();

    if (found < count)
        status =
            dpulib_fail(DPU_ERR_ALLOCATION,
                        "%u ranks were requested, but of the %u that are simulated %u are free; "
                        "set DPU_SOFT_RANKS or softNrRanks in the profile for more",
                        count, configuration->ranks, found);
    if (status == DPU_OK) {
        allocation = dpulib_allocation_take(count);
        if (allocation == NULL)
            status = dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (ranks)");
    }

    uint32_t size = DPU_MAX_NR_CIS * configuration->members;
    for (uint32_t i = 0; status == DPU_OK && i < count; i++) {
        uint32_t part = dpus < size ? dpus : size;
        status = dpulib_rank_create(configuration, ids[i], part, &allocation->ranks[i]);
        if (status == DPU_OK)
            status = dpulib_remote_assign(allocation->ranks[i]);
        dpus -= part;
    }

    if (status == DPU_OK) {
        allocation->by_rank = by_rank;
        status = publish(allocation, configuration, ids);
    }
    if (status != DPU_OK && allocation != NULL)
        destroy_ranks(allocation);
    free(ids);
    if (status == DPU_OK)
        *made = allocation;
    return status;
}

static const char *const backend_keys[] = {
#define KEY(name, value, key) [value] = (key),
    DPU_TARGETS(KEY)
#undef KEY
};

static dpu_error_t read_profile(struct dpulib_configuration *configuration, const char *text)
{
    dpu_error_t status = dpulib_configuration_read(configuration, text);
    if (status != DPU_OK)
        return status;
    if (configuration->backend != FUNCTIONAL_SIMULATOR &&
        configuration->backend != CYCLE_ACCURATE_SIMULATOR)
        return dpulib_fail(DPU_ERR_ALLOCATION,
                           "UPMEM_PROFILE=backend=cas in the environment makes this program run as "
                           "it is: its profile asks for real DPUs (backend=%s), and this libdpu "
                           "simulates them",
                           backend_keys[configuration->backend]);
    return DPU_OK;
}

/* How many ranks DPU_ALLOCATE_ALL means. */
static uint32_t all_ranks(const struct dpulib_configuration *configuration)
{
    if (!configuration->ranks_given)
        return 1;
    uint32_t taken = 0;
    dpulib_lock();
    for (struct list_node *at = dpulib_ranks.first; at != NULL; at = at->next)
        taken += dpulib_rank_at(at)->id < configuration->ranks;
    dpulib_unlock();
    return configuration->ranks > taken ? configuration->ranks - taken : 1;
}

static dpu_error_t too_many(const struct dpulib_configuration *configuration, uint32_t amount,
                            const char *what, uint32_t ranks)
{
    uint32_t size = DPU_MAX_NR_CIS * configuration->members;
    const char *s = configuration->ranks == 1 ? "" : "s";
    if (ranks > DPULIB_RANKS_MAX)
        return dpulib_fail(
            DPU_ERR_ALLOCATION,
            "%u %s were requested, but there are %u DPUs (%u rank%s of %u), and never "
            "more than %u ranks",
            amount, what, configuration->ranks * size, configuration->ranks, s, size,
            DPULIB_RANKS_MAX);
    return dpulib_fail(DPU_ERR_ALLOCATION,
                       "%u %s were requested, but there are %u DPUs (%u rank%s of %u): "
                       "DPU_SOFT_RANKS=%u, or softNrRanks=%u in the profile, makes as many",
                       amount, what, configuration->ranks * size, configuration->ranks, s, size,
                       ranks, ranks);
}

static dpu_error_t allocate_set(uint32_t amount, bool in_ranks, const char *text,
                                struct dpu_set_t *set)
{
    const char *what = in_ranks ? "ranks" : "DPUs";
    if (set == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "dpu_set must not be NULL");

    memset(set, 0, sizeof *set);
    struct dpulib_configuration configuration;
    dpu_error_t status = read_profile(&configuration, text);
    if (status != DPU_OK)
        return status;
    if (amount == 0) {
        dpulib_log(DPULIB_WARNING, "cannot allocate 0 %s", what);
        return dpulib_fail_again(DPU_ERR_ALLOCATION, "cannot allocate 0 %s", what);
    }

    uint32_t size = DPU_MAX_NR_CIS * configuration.members;
    uint32_t count = in_ranks ? amount : (uint32_t)(((uint64_t)amount + size - 1) / size);
    if (amount == DPU_ALLOCATE_ALL)
        count = all_ranks(&configuration);
    if (count > configuration.ranks)
        return too_many(&configuration, amount, what, count);

    struct dpulib_allocation *allocation;
    bool whole = in_ranks || amount == DPU_ALLOCATE_ALL;
    status = allocate(&configuration, count, whole ? count * size : amount, false, &allocation);
    if (status != DPU_OK)
        return status;

    set->kind = DPU_SET_RANKS;
    set->list.nr_ranks = count;
    set->list.ranks = allocation->ranks;
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_alloc(uint32_t nr_dpus, const char *profile, struct dpu_set_t *dpu_set)
{
    return allocate_set(nr_dpus, false, profile, dpu_set);
}

DPU_EXPORT dpu_error_t dpu_alloc_ranks(uint32_t nr_ranks, const char *profile,
                                       struct dpu_set_t *dpu_set)
{
    return allocate_set(nr_ranks, true, profile, dpu_set);
}

DPU_EXPORT dpu_error_t dpu_get_rank_of_type(const char *profile, struct dpu_rank_t **rank)
{
    if (rank == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "rank must not be NULL");

    *rank = NULL;
    struct dpulib_configuration read;
    struct dpulib_allocation *allocation;
    dpu_error_t status = read_profile(&read, profile);
    if (status == DPU_OK)
        status = allocate(&read, 1, DPU_MAX_NR_CIS * read.members, true, &allocation);
    if (status == DPU_OK)
        *rank = allocation->ranks[0];
    return status;
}

static bool is_quiet(const struct dpulib_allocation *allocation)
{
    for (uint32_t i = 0; i < allocation->count; i++)
        if (!list_is_empty(&allocation->ranks[i]->queue) || allocation->ranks[i]->detached != 0)
            return false;
    return true;
}

/* With the lock: the allocation that an array or one rank is all of; NULL if there is none. */
static struct dpulib_allocation *find_allocation(struct dpu_rank_t *const *ranks, uint32_t count,
                                                 const struct dpu_rank_t *rank)
{
    for (struct list_node *at = dpulib_allocations.first; at != NULL; at = at->next) {
        struct dpulib_allocation *allocation = dpulib_allocation_at(at);
        if (allocation->generation != dpulib_generation())
            continue;
        if (allocation->by_rank ? rank != NULL && allocation->ranks[0] == rank
                                : allocation->ranks == ranks && allocation->count == count)
            return allocation;
    }

    return NULL;
}

/* With the lock, which it gives up. */
static dpu_error_t end(struct dpulib_allocation *allocation)
{
    for (uint32_t i = 0; i < allocation->count; i++)
        if (dpulib_is_held(allocation->ranks[i])) {
            dpulib_unlock();
            return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                               "a callback cannot free the set that it was called for");
        }

    /* Nobody else can free it from now on, nor use it but callbacks of what is queued. */
    list_remove(&dpulib_allocations, &allocation->node);
    for (uint32_t i = 0; i < allocation->count; i++)
        allocation->ranks[i]->ending = true;
    while (!is_quiet(allocation))
        dpulib_wait(CLOCK_NEVER);

    for (uint32_t i = 0; i < allocation->count; i++) {
        allocation->ranks[i]->alive = false;
        list_remove(&dpulib_ranks, &allocation->ranks[i]->node);
    }

    dpulib_pool_wake();
    dpulib_calls_wake();
    dpulib_changed();
    dpulib_unlock_and_release();

    destroy_ranks(allocation);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_free(struct dpu_set_t dpu_set)
{
    struct dpulib_allocation *allocation = NULL;
    dpulib_lock();
    if (dpu_set.kind == DPU_SET_RANKS)
        allocation = find_allocation(dpu_set.list.ranks, dpu_set.list.nr_ranks, NULL);
    if (allocation != NULL)
        return end(allocation);

    dpu_error_t status = dpulib_check_set_locked(dpu_set);
    dpulib_unlock();

    if (status != DPU_OK)
        return status == DPU_ERR_DPU_DISABLED ? DPU_ERR_INVALID_DPU_SET : status;
    return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                       "only a set as dpu_alloc() or dpu_alloc_ranks() gave it can be freed, not "
                       "a part of it");
}

DPU_EXPORT dpu_error_t dpu_free_rank(struct dpu_rank_t *rank)
{
    dpulib_lock();
    struct dpulib_allocation *allocation = find_allocation(NULL, 0, rank);
    if (allocation != NULL)
        return end(allocation);

    dpulib_unlock();
    return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                       "this rank is not one that dpu_get_rank_of_type() gave, or it was freed");
}
