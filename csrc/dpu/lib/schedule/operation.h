/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h: operations, rank jobs and tasks.
 *
 * A call about a set becomes one *operation*. It has a *rank job* for each rank of the set, which
 * waits in that rank's queue (queue.h). A rank job that has started is done by one thread, or cut
 * into *tasks*: one for each DPU or, where little is to be done for each, for some DPUs of the
 * rank.
 *
 *     dpulib_submit()      a set and a spec: what to do for each DPU
 *       operation          new, checked, and put into all queues at once
 *         rank job         QUEUED until those before it are over, then READY or RUNNING, then DONE
 *           task           run by a thread of the pool, a call thread or the caller
 *
 * Ownership. A synchronous operation belongs to its caller; an asynchronous one is freed after its
 * last rank job, by the next dpulib_unlock_and_release().
 *
 * Threads. Operations and rank jobs are guarded by the lock, but for what does not change once
 * they are queued.
 */
#ifndef OFFCHIP_DPU_LIB_OPERATION_H
#define OFFCHIP_DPU_LIB_OPERATION_H

#include "dpu.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/task.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/moves.h"
#include "dpu/machine/machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Totals of the DPUs of a launch; each adds to it when it ends. */
struct dpulib_launch_figures {
    _Atomic uint64_t cycles; /* of the DPU that took longest */
    _Atomic uint64_t instructions;
    _Atomic uint64_t dma_bytes;
    _Atomic uint32_t runtimes; /* of the programs: 1 << enum dpusoft_runtime, or-ed */
    uint64_t number;           /* that the recorder gave to it */
};

/* A function of the user's. */
struct dpulib_callback {
    dpu_error_t (*function)(struct dpu_set_t, uint32_t, void *);
    void *argument;
    bool blocking; /* what is queued after it waits for it */
    bool single;   /* called once, and not for each rank */
};

/* Slices of several DPUs at once. */
struct dpulib_together {
    /*
     * With the lock, as of struct dpulib_task_functions. A DPU for which `most` is more than 1, or
     * which matches, is kept from others until its slice is over.
     */
    uint32_t (*most)(struct dpu_t *dpu, uint32_t share);
    bool (*match)(struct dpu_t *dpu, struct dpu_t *other);
    /* Without it: a slice of each, and then what is to be done for each, as advance(). */
    void (*slice)(struct dpu_t *const *dpus, uint32_t count, enum dpu_run_status *statuses);
    enum dpulib_progress (*after)(struct dpu_t *dpu, void *argument, enum dpu_run_status status,
                                  dpu_error_t *error);
};

/* Steps of an operation. Everything may be 0 or NULL but one of `run`, `advance` and `callback`. */
struct dpulib_spec {
    /* The name in the text of an asynchronous error. */
    enum dpulib_job_kind kind;
    /*
     * Does it for one DPU, reading what it is told from ARGUMENT: DPU_OK, or an error by
     * dpulib_fail(). Several threads may call it at once, each for another DPU.
     */
    dpu_error_t (*run)(struct dpu_t *dpu, void *argument);
    /* The same for a launch, in slices: called until it is finished, when *ERROR is set. */
    enum dpulib_progress (*advance)(struct dpu_t *dpu, void *argument, dpu_error_t *error);
    /* Slices of several DPUs by one call: see struct dpulib_task_functions. NULL: there are none.
     */
    const struct dpulib_together *together;
    void *argument;
    size_t argument_size; /* bytes of it that the operation has its own copy of; 0: none */
    /* Finds what the call names, takes what was prepared for it, and completes the spec. With the
     * lock, for a set that was checked, before anything is queued: an error refuses the call. */
    dpu_error_t (*resolve)(const struct dpu_set_t *set, struct dpulib_spec *spec);
    /* Frees what the argument owns: called once, by any thread, also if the operation could not be
     * queued, and perhaps before dpulib_submit() returns. */
    void (*release)(void *argument);
    /* A function of the user's, in place of `run` and `advance`. */
    struct dpulib_callback callback;
    bool nothing; /* set by resolve(): the call is over, and does not wait for its turn */
    /* Bytes that are moved for each DPU: what is worth it is spread over the host's cores. */
    size_t bytes;
    enum dpulib_move move;
    bool by_commands; /* it moves words of WRAM or IRAM, one after the other */
    /* The DPUs that take part: those that have an entry; NULL: all. */
    const struct dpulib_table *moved;
    const struct dpulib_launch_figures *figures; /* of a launch */
    /* Runs beside a launch instead of after it, while the machine stands still. */
    bool parallel;
};

/* Thread that does a rank job. */
enum dpulib_executor {
    DPULIB_BY_CALLER,      /* the thread that submitted it, which waits for its turn */
    DPULIB_BY_POOL,        /* threads of the pool, and the caller if it waits */
    DPULIB_BY_CALL_THREAD, /* a thread of its own */
    DPULIB_ONCE,           /* one thread for all rank jobs, when each is at the head of its queue */
};

enum dpulib_job_state { DPULIB_QUEUED, DPULIB_READY, DPULIB_RUNNING, DPULIB_DONE };

struct dpulib_rank_job {
    struct list_node node; /* in the rank's queue */
    struct dpulib_operation *operation;
    struct dpu_rank_t *rank;
    struct dpu_t *dpu; /* the one that it is about; NULL: all of the rank */
    uint32_t index;    /* of the rank in the set */
    uint64_t number;   /* counts the rank's jobs */
    enum dpulib_job_state state;
    bool queued;    /* false: the rank is held by a callback of this thread */
    uint32_t tasks; /* that are not done */
    struct dpulib_task task;
    dpu_error_t error; /* of the DPU with the lowest index that failed */
    uint32_t failed;   /* the index of that one */
    uint32_t failures; /* DPUs that failed */
    char *detail;      /* the text of the error; NULL without memory */
};

struct dpulib_operation {
    struct list_node node; /* of those that are to be freed */
    struct dpulib_spec spec;
    struct dpu_set_t set; /* whose list of ranks is the caller's, as long as that waits */
    enum dpulib_executor executor;
    int64_t begin; /* clock_now(); 0 for short ones that nobody asks about */
    bool async;
    bool spread;        /* over tasks */
    uint32_t span;      /* DPUs of a task */
    uint32_t dpus;      /* that it is about */
    uint32_t count;     /* of its rank jobs */
    uint32_t left;      /* rank jobs that are not done */
    uint32_t collected; /* DPULIB_ONCE: rank jobs that are ready */
    struct dpulib_rank_job jobs[];
};

static inline bool dpulib_is_launch(const struct dpulib_operation *operation)
{
    return operation->spec.advance != NULL;
}

/* Makes an operation for a set that was checked. NULL if out of memory; the argument of SPEC is
 * then not released. With the lock. */
struct dpulib_operation *dpulib_operation_new(const struct dpu_set_t *set,
                                              const struct dpulib_spec *spec);
/* Releases the argument and frees the operation, which is not queued. Without the lock. */
void dpulib_operation_free(struct dpulib_operation *operation);

/* Notes an error of a DPU of a rank job, whose text is that of this thread. Without the lock. */
void dpulib_note_error(struct dpulib_rank_job *job, uint32_t index, dpu_error_t error);

/* With the lock: has an asynchronous operation that is over be freed. */
void dpulib_operation_over(struct dpulib_operation *operation);
/* Instead of dpulib_unlock() where rank jobs may have ended: frees such operations. */
void dpulib_unlock_and_release(void);

#endif
