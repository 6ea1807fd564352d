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

#include <stdbool.h>
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
    /*
     * How many tasks one call may run, this one among them, if each thread has SHARE of those that
     * wait; and whether another one may be among them. With the lock. More than 1 and true must be
     * followed by run_together(), even of one task. NULL: each runs alone.
     */
    uint32_t (*most_together)(const struct dpulib_task *task, uint32_t share);
    bool (*goes_with)(const struct dpulib_task *task, const struct dpulib_task *other);
    /* The same as run() of all these. */
    void (*run_together)(struct dpulib_task *const *tasks, uint32_t count,
                         enum dpulib_progress *progress);
};

/* The most tasks of a call. */
#define DPULIB_TOGETHER 16

struct dpulib_task {
    struct list_node node; /* in the line of tasks */
    const struct dpulib_task_functions *functions;
    const struct dpulib_operation *operation;
    struct dpulib_rank_job *job;
    struct dpu_t *dpu; /* NULL: all DPUs of the rank job, or its callback */
    uint32_t span; /* so many DPUs of the rank from that one on, of which some may be disabled */
};

#endif
