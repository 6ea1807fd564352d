/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank.c: ranks and their DPUs as objects.
 *
 * The memory of a rank that was freed is only used for another rank, so that a set which is used
 * after it was freed is noticed.
 */
#include "dpu/lib/core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct dpu_rank_t *spare;

static struct dpu_rank_t *take_memory(void)
{
    dpulib_lock();
    struct dpu_rank_t *rank = spare;
    if (rank != NULL)
        spare = rank->next;
    dpulib_unlock();
    if (rank != NULL)
        return rank;
    rank = calloc(1, sizeof(*rank));
    if (rank == NULL)
        return NULL;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rank->user_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return rank;
}

static dpu_error_t make_machines(struct dpu_rank_t *rank, uint32_t count)
{
    struct dpu_machine_options options = rank->profile.machine;
    options.architecture =
        rank->profile.chip_id > vD_fpga4 ? DPU_ARCHITECTURE_V1B : DPU_ARCHITECTURE_V1A;
    options.accounting =
        rank->profile.vendor_accounting ? DPU_ACCOUNTING_VENDOR : DPU_ACCOUNTING_PIPELINE;
    /* The first member of every slice, then the second, and so on. */
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_t *dpu = &rank->dpus[i % DPU_MAX_NR_CIS * rank->members + i / DPU_MAX_NR_CIS];
        dpu->machine = dpu_machine_create(&options);
        if (dpu->machine == NULL)
            return dpulib_fail(DPU_ERR_ALLOCATION, "there is no memory for DPU %u.%u.%u: %s",
                               rank->id, dpu->slice, dpu->member, strerror(errno));
        dpu->enabled = true;
    }
    return DPU_OK;
}

dpu_error_t dpulib_rank_create(const struct dpulib_profile *profile, uint32_t id, uint32_t count,
                               struct dpu_rank_t **made)
{
    struct dpu_rank_t *rank = take_memory();
    if (rank == NULL)
        return dpulib_fail(DPU_ERR_ALLOCATION, "there is no memory for a rank");
    /* Somebody may be looking at what was here before. */
    dpulib_lock();
    rank->id = id;
    rank->members = profile->members;
    rank->count = count;
    rank->profile = *profile;
    rank->self = rank;
    rank->next = NULL;
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++)
        rank->dpus[i] = (struct dpu_t){
            .rank = rank,
            .slice = (uint8_t)(i / rank->members),
            .member = (uint8_t)(i % rank->members),
            .status = DPUSOFT_NEVER_LAUNCHED,
        };
    dpulib_unlock();
    rank->description = dpulib_description_new(profile);
    dpu_error_t status = DPU_OK;
    if (rank->description == NULL)
        status = dpulib_fail(DPU_ERR_ALLOCATION, "there is no memory for a rank");
    if (status == DPU_OK)
        status = make_machines(rank, count);
    if (status != DPU_OK) {
        dpulib_rank_destroy(rank);
        return status;
    }
    *made = rank;
    return DPU_OK;
}

void dpulib_rank_destroy(struct dpu_rank_t *rank)
{
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++) {
        struct dpu_t *dpu = &rank->dpus[i];
        dpu_machine_destroy(dpu->machine);
        dpu_free_program(dpu->program);
        free(dpu->breakpoints);
    }
    dpu_free_description(rank->description);
    dpulib_lock();
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++) {
        struct dpu_t *dpu = &rank->dpus[i];
        *dpu = (struct dpu_t){.rank = rank, .slice = dpu->slice, .member = dpu->member};
    }
    free(rank->detail);
    free(rank->warning);
    rank->detail = rank->warning = NULL;
    rank->warnings = rank->failures = 0;
    rank->keeps_warnings = false;
    rank->description = NULL;
    rank->error = DPU_OK;
    rank->next = spare;
    spare = rank;
    dpulib_unlock();
}

/* --- sets ------------------------------------------------------------------------------------ */

uint32_t dpulib_set_ranks(const struct dpu_set_t *set)
{
    return set->kind == DPU_SET_DPU ? 1 : set->list.nr_ranks;
}

struct dpu_rank_t *dpulib_set_rank(const struct dpu_set_t *set, uint32_t index)
{
    return set->kind == DPU_SET_DPU ? set->dpu->rank : set->list.ranks[index];
}

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

dpu_error_t dpulib_check_single(struct dpu_set_t set, struct dpu_t **dpu)
{
    dpu_error_t status = dpulib_check_set(set);
    if (status != DPU_OK)
        return status;
    if (set.kind != DPU_SET_DPU)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "this is for one DPU, not for ranks");
    *dpu = set.dpu;
    return DPU_OK;
}

struct dpu_t *dpulib_next_dpu(const struct dpu_set_t *set, struct dpulib_cursor *at)
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

dpu_error_t dpulib_common_program(struct dpu_set_t set, struct dpu_program_t **program)
{
    struct dpu_program_t *common = NULL;
    struct dpu_t *dpu;
    *program = NULL;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&set, &at)) != NULL;) {
        if (dpu->program == NULL)
            continue;
        if (common != NULL && common != dpu->program)
            status = dpulib_fail(DPU_ERR_DIFFERENT_DPU_PROGRAMS,
                                 "the DPUs have different programs: access them one by one");
        common = dpu->program;
    }
    if (status == DPU_OK && common == NULL)
        status = dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED,
                             "no DPU of this set has a program: load one first");
    if (status == DPU_OK) {
        dpu_take_program_ref(common);
        *program = common;
    }
    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpu_get_common_program(struct dpu_set_t *dpu_set,
                                              struct dpu_program_t **program)
{
    if (dpu_set == NULL || program == NULL)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "there is no set, or no place for its program");
    dpu_error_t status = dpulib_common_program(*dpu_set, program);
    /* The DPUs keep it. */
    dpu_free_program(*program);
    return status;
}
