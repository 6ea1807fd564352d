/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task.h: what a thread does at a time; see schedule/operation.h for how operations become tasks.
 *
 * A task is part of its rank job, or of the DPU that it is about, and is in at most one line of
 * tasks (pool.h, calls.h). The thread that takes it out runs it without the lock, again and again
 * until it is finished, and then calls `done` with the lock; the task may be gone when that
 * returns.
 */
#ifndef OFFCHIP_DPU_LIB_TASK_H
#define OFFCHIP_DPU_LIB_TASK_H

#include "common/list.h"

#include <stdint.h>

struct dpu_t;
struct dpulib_operation;
struct dpulib_rank_job;
struct dpulib_task;

/* Result of running a task, or one slice of a launch. */
enum dpulib_progress {
    DPULIB_FINISHED,
    DPULIB_UNFINISHED, /* there is more to do; other tasks may go first */
};

struct dpulib_task_functions {
    enum dpulib_progress (*run)(struct dpulib_task *task);
    void (*done)(struct dpulib_task *task);
};

struct dpulib_task {
    struct list_node node; /* in the line of tasks */
    const struct dpulib_task_functions *functions;
    const struct dpulib_operation *operation;
    struct dpulib_rank_job *job;
    struct dpu_t *dpu; /* NULL: all DPUs of the rank job, or its callback */
    uint32_t span; /* so many DPUs of the rank from that one on, of which some may be disabled */
};

#endif
