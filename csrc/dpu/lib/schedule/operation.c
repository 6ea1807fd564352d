/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/operation.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"

#include <stdlib.h>
#include <string.h>

/* Operations that are over and that nobody waits for. */
static struct list over;

/* With the lock, for a set that was checked. NULL if out of memory. */
static struct dpulib_operation *make_operation(const struct dpu_set_t *set,
                                               const struct dpulib_spec *spec)
{
    const uint32_t count = dpulib_set_ranks(set);
    const size_t size = sizeof(struct dpulib_operation) + count * sizeof(struct dpulib_rank_job);
    /* Not calloc(), which does not use the thread's cache of freed blocks. */
    struct dpulib_operation *operation = malloc(size);
    if (operation == NULL)
        return NULL;
    memset(operation, 0, size);
    operation->spec = *spec;
    operation->set = *set;
    operation->count = operation->left = count;
    operation->span = 1;

    for (uint32_t i = 0; i < count; i++) {
        struct dpulib_rank_job *job = &operation->jobs[i];
        job->operation = operation;
        job->rank = dpulib_set_rank(set, i);
        job->dpu = set->kind == DPU_SET_DPU ? set->dpu : NULL;
        job->index = i;
        operation->dpus += job->dpu != NULL ? 1 : job->rank->count;
    }
    return operation;
}

dpu_error_t dpulib_operation_new(struct dpu_set_t set, const struct dpulib_spec *spec,
                                 struct dpulib_operation **operation)
{
    *operation = NULL;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    if (status == DPU_OK)
        *operation = make_operation(&set, spec);
    dpulib_unlock();

    if (status == DPU_OK && *operation == NULL)
        status = dpulib_fail(DPU_ERR_SYSTEM, "out of memory (operation)");
    return status;
}

void dpulib_operation_free(struct dpulib_operation *operation)
{
    if (operation->spec.release != NULL)
        operation->spec.release(operation->spec.argument);
    for (uint32_t i = 0; i < operation->count; i++)
        free(operation->jobs[i].detail);
    free(operation);
}

void dpulib_note_error(struct dpulib_rank_job *job, uint32_t index, dpu_error_t error)
{
    if (error == DPU_OK)
        return;

    dpulib_lock();
    job->failures++;
    if (job->error == DPU_OK || job->failed > index) {
        job->error = error;
        job->failed = index;
        free(job->detail);
        job->detail = strdup(dpulib_detail());
    }

    dpulib_unlock();
}

void dpulib_operation_over(struct dpulib_operation *operation)
{
    list_append(&over, &operation->node);
}

void dpulib_unlock_and_release(void)
{
    struct list all = list_take_all(&over);
    dpulib_unlock();

    struct list_node *node;
    while ((node = list_pop(&all)) != NULL)
        dpulib_operation_free(LIST_ENTRY(node, struct dpulib_operation, node));
}
