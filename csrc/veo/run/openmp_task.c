/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of OpenMP: the thread that comes to one executes it at once, as it may. Those that it
 * depends on, and those that are waited for later, have ended then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "veo/run/openmp.h"
#include "veo/run/special.h"
#include "veo/run/thread.h"

enum { FINAL = 2, HAS_DESTRUCTORS = 8 };

/* A task as compiled code knows it. Its own variables follow. */
struct task {
    uint64_t shared;
    uint64_t function; /* (thread, task) */
    int32_t part;
    uint64_t destructors; /* the same */
    uint64_t priority;
    uint64_t low, high, step; /* taskloop */
    int32_t is_last;
};

/* Lies before it. */
struct header {
    uint64_t flags;
    uint64_t unused; /* tasks are aligned to 16 bytes */
};

static _Thread_local uint32_t finals; /* tasks around that are final */

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* loc, number, flags, size, size of what is shared, function */
bool verun_kmpc_omp_task_alloc(struct ve_core *core)
{
    const uint64_t size = (core->s[3] + 15) & ~UINT64_C(15);
    struct header *header = calloc(1, sizeof *header + size + core->s[4]);
    if (header == NULL) {
        fprintf(stderr, "[VE] ERROR: out of memory: a task of OpenMP cannot be made\n");
        abort();
    }

    struct task *task = (struct task *)(header + 1);
    header->flags = core->s[2];
    task->shared = core->s[4] != 0 ? (uint64_t)(uintptr_t)task + size : 0;
    task->function = core->s[5];
    core->s[0] = (uint64_t)(uintptr_t)task;
    return true;
}

static void end_task(struct task *task)
{
    free((struct header *)task - 1);
}

/* loc, number, task, and what it waits for */
bool verun_kmpc_omp_task(struct ve_core *core)
{
    struct task *task = pointer(core->s[2]);
    const uint64_t flags = ((struct header *)task - 1)->flags;
    const uint64_t args[] = {verun_member()->number, core->s[2]};
    uint64_t ignored;
    finals += (flags & FINAL) != 0;
    bool done = verun_call(core->owner, task->function, args, 2, &ignored);
    if (done && (flags & HAS_DESTRUCTORS) != 0)
        done = verun_call(core->owner, task->destructors, args, 2, &ignored);
    finals -= (flags & FINAL) != 0;
    end_task(task);
    core->s[0] = 0;
    return done;
}

/* loc, number, task, if, ...: all iterations are one task. */
bool verun_kmpc_taskloop(struct ve_core *core)
{
    struct task *task = pointer(core->s[2]);
    task->is_last = 1;
    return verun_kmpc_omp_task(core);
}

/* The compiled code executes it itself. */
bool verun_kmpc_omp_task_complete_if0(struct ve_core *core)
{
    end_task(pointer(core->s[2]));
    return true;
}

bool verun_omp_in_final(struct ve_core *core)
{
    core->s[0] = finals != 0;
    return true;
}

/* number, group, address: a task adds to the variable itself, as no other one does at that time. */
bool verun_kmpc_task_reduction_get_th_data(struct ve_core *core)
{
    core->s[0] = core->s[2];
    return true;
}
