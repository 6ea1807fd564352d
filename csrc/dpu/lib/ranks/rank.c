/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/ranks/rank.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/description.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu_program.h"
#include "dpusoft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct list dpulib_ranks;

/* Ranks that are over, whose memory is to be used again. */
static struct list spare;

/* The ranks of the parent are not this process's. */
static void reset(void)
{
    dpulib_ranks = (struct list){NULL, NULL};
}

__attribute__((constructor)) static void set_up(void)
{
    dpulib_on_fork(reset);
}

static struct dpu_rank_t *take_memory(void)
{
    dpulib_lock();
    struct list_node *node = list_pop(&spare);
    dpulib_unlock();

    if (node != NULL)
        return dpulib_rank_at(node);

    struct dpu_rank_t *rank = calloc(1, sizeof *rank);
    if (rank == NULL)
        return NULL;

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rank->user_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return rank;
}

static dpu_error_t no_memory(const struct dpu_t *dpu)
{
    int error = errno;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return dpulib_fail(
            DPU_ERR_ALLOCATION,
            "out of memory (DPU %u.%u.%u): %s; ulimit -v is %llu KiB, and the memory "
            "of a DPU has %u",
            dpu->rank->id, dpu->slice, dpu->member, strerror(error),
            (unsigned long long)limit.rlim_cur >> 10,
            dpulib_chip(&dpu->rank->configuration).mram >> 10);
    return dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (DPU %u.%u.%u): %s", dpu->rank->id,
                       dpu->slice, dpu->member, strerror(error));
}

static dpu_error_t make_machines(struct dpu_rank_t *rank, uint32_t count)
{
    struct dpu_machine_options options = rank->configuration.machine;
    options.architecture = dpulib_architecture(&rank->configuration);
    options.accounting =
        rank->configuration.vendor_accounting ? DPU_ACCOUNTING_VENDOR : DPU_ACCOUNTING_PIPELINE;
    options.clock_mhz = rank->configuration.clock_mhz;

    /* The first member of every slice, then the second, and so on. */
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_t *dpu = &rank->dpus[i % DPU_MAX_NR_CIS * rank->members + i / DPU_MAX_NR_CIS];
        dpu->machine = dpu_machine_create(&options);
        if (dpu->machine == NULL)
            return no_memory(dpu);
        dpu->enabled = true;
    }

    return DPU_OK;
}

dpu_error_t dpulib_rank_create(const struct dpulib_configuration *configuration, uint32_t id,
                               uint32_t count, struct dpu_rank_t **made)
{
    struct dpu_rank_t *rank = take_memory();
    if (rank == NULL)
        return dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (rank)");

    /* Somebody may be looking at what was here before. */
    dpulib_lock();
    rank->id = id;
    rank->members = configuration->members;
    rank->count = count;
    rank->configuration = *configuration;
    rank->self = rank;
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++)
        rank->dpus[i] = (struct dpu_t){
            .rank = rank,
            .slice = (uint8_t)(i / rank->members),
            .member = (uint8_t)(i % rank->members),
            .status = DPUSOFT_NEVER_LAUNCHED,
        };

    dpulib_unlock();

    rank->description = dpulib_description_new(configuration);
    dpu_error_t status = DPU_OK;
    if (rank->description == NULL)
        status = dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (rank)");
    if (status == DPU_OK)
        status = make_machines(rank, count);
    if (status != DPU_OK) {
        dpulib_rank_destroy(rank);
        return status;
    }

    *made = rank;
    return DPU_OK;
}

static void release_attachments(struct dpu_t *dpu)
{
    struct dpulib_attachment *next;
    for (struct dpulib_attachment *one = dpu->attachments; one != NULL; one = next) {
        next = one->next;
        one->release(one);
    }
    dpu->attachments = NULL;
}

void dpulib_rank_destroy(struct dpu_rank_t *rank)
{
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++) {
        struct dpu_t *dpu = &rank->dpus[i];
        release_attachments(dpu);
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
    list_prepend(&spare, &rank->node);
    dpulib_unlock();
}
