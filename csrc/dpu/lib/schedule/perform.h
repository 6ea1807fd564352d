/* SPDX-License-Identifier: BSD-3-Clause */
/* perform.h: doing what rank jobs and tasks are about. Without the lock; errors are noted in the
 * rank job. */
#ifndef OFFCHIP_DPU_LIB_PERFORM_H
#define OFFCHIP_DPU_LIB_PERFORM_H

#include "dpu/lib/schedule/operation.h"

/* All of a rank job: calls the user's function, or runs the operation for one DPU after the other.
 * Blocks for as long as that takes. */
void dpulib_perform(struct dpulib_rank_job *job);
/* The part of a rank job that is a task, or one slice of a launch. */
enum dpulib_progress dpulib_perform_task(struct dpulib_task *task);

#endif
