/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perform.h: doing what rank jobs and tasks are about. Without the lock; errors are noted in the
 * rank job.
 *
 * While a blocking callback runs, nothing else runs on its ranks, so a synchronous call that it
 * makes on one of them must run at once instead of queueing behind the callback. The record of them
 * is per thread and needs no lock.
 */
#ifndef OFFCHIP_DPU_LIB_PERFORM_H
#define OFFCHIP_DPU_LIB_PERFORM_H

#include "dpu/lib/schedule/operation.h"

/* All of a rank job: calls the user's function, or runs the operation for one DPU after the other.
 * Blocks for as long as that takes. */
void dpulib_perform(struct dpulib_rank_job *job);
/* The part of a rank job that is a task, or one slice of a launch. */
enum dpulib_progress dpulib_perform_task(struct dpulib_task *task);
/* Of struct dpulib_task_functions, for launches. */
uint32_t dpulib_most_together(const struct dpulib_task *task, uint32_t share);
bool dpulib_goes_with(const struct dpulib_task *task, const struct dpulib_task *other);
void dpulib_perform_together(struct dpulib_task *const *tasks, uint32_t count,
                             enum dpulib_progress *progress);

/* True if a blocking callback that this thread is in holds the rank. */
bool dpulib_is_held(const struct dpu_rank_t *rank);
/* True if this thread is in a callback. */
bool dpulib_is_in_callback(void);

#endif
