/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h: threads for tasks that may wait for something else: functions of the user's, and
 * operations that run beside a launch.
 *
 * There are as many threads as tasks wait or run, and one that has nothing to do for some seconds
 * ends. All functions need the lock; none blocks.
 */
#ifndef OFFCHIP_DPU_LIB_CALLS_H
#define OFFCHIP_DPU_LIB_CALLS_H

#include "dpu/lib/core/task.h"

#include <stdbool.h>

/* Has a thread run the task. False, and nothing done, if there is no thread and none can be
 * started. */
bool dpulib_calls_push(struct dpulib_task *task);
/* Makes the threads look again whether they are needed. */
void dpulib_calls_wake(void);

#endif
