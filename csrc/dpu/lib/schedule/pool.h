/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h: threads that compute and copy, and the line of tasks that they take from.
 *
 * At most as many tasks run as the process may use cores, counting those that waiting callers run
 * (dpulib_pool_help()). A task that is unfinished goes to the end of the line if others wait, so
 * all DPUs make progress. Threads are started when needed and end when there are no ranks. All
 * functions need the lock; none blocks but dpulib_pool_help().
 */
#ifndef OFFCHIP_DPU_LIB_POOL_H
#define OFFCHIP_DPU_LIB_POOL_H

#include "dpu/lib/core/task.h"

#include <stdbool.h>
#include <stdint.h>

/* How many tasks may run; 0: as many as there are cores. */
void dpulib_pool_set_limit(uint32_t threads);
/* True if there is a thread that can run tasks; starts the first one. */
bool dpulib_pool_is_ready(void);
/* Puts a task at the end of the line. */
void dpulib_pool_push(struct dpulib_task *task);
/* Runs the first task of an operation in the line, without the lock meanwhile. False if there is
 * none, or no core is free. */
bool dpulib_pool_help(const struct dpulib_operation *operation);
/* Makes the threads look again whether they are needed. */
void dpulib_pool_wake(void);

#endif
