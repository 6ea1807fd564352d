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

/* The argument's copy lies behind the rank jobs, and may have members of any type. */
_Static_assert(sizeof(struct dpulib_operation) % 8 == 0 && sizeof(struct dpulib_rank_job) % 8 == 0,
               "the copy of an argument is aligned");

struct dpulib_operation *dpulib_operation_new(const struct dpu_set_t *set,
                                              const struct dpulib_spec *spec)
{
    const uint32_t count = dpulib_set_ranks(set);
    const size_t size = sizeof(struct dpulib_operation) + count * sizeof(struct dpulib_rank_job);
    /* Not calloc(), which does not use the thread's cache of freed blocks. */
    struct dpulib_operation *operation = malloc(size + spec->argument_size);
    if (operation == NULL)
        return NULL;
    memset(operation, 0, size);
    operation->spec = *spec;
    if (spec->argument_size != 0)
        operation->spec.argument =
            memcpy(&operation->jobs[count], spec->argument, spec->argument_size);
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
