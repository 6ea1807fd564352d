/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.h: the one lock, queues and threads; for the files that make works and sets.
 *
 * A call makes an *operation*: one *job* for each rank it is about, in the rank's queue. A job
 * that is started is either waited for by the caller, who does it (CALLER), or cut into *items* of
 * one DPU or, for short works, some, which the threads of the pool and a waiting caller do (POOL),
 * or a call of a function of the user's that a thread of its own does (CALL). No more threads of
 * the pool are at work than the process may use cores; an item that is a long launch goes back to
 * the end of the line now and then, so that all DPUs make progress.
 */
#ifndef OFFCHIP_DPU_LIB_CORE_H
#define OFFCHIP_DPU_LIB_CORE_H

#include "dpu/lib/core/internal.h"

#include <pthread.h>

/* What the run function of a launch returns when there is more to do; no error has this value. */
#define DPULIB_AGAIN ((dpu_error_t)0x7FFFFFFF)

enum dpulib_style { DPULIB_CALLER, DPULIB_POOL, DPULIB_CALL, DPULIB_GATHER };

enum dpulib_state {
    DPULIB_QUEUED,
    DPULIB_READY, /* for its caller, or until those of the other ranks are */
    DPULIB_RUNNING,
    DPULIB_DONE
};

struct dpulib_job {
    struct dpulib_job *next;      /* in the rank's queue */
    struct dpulib_job *next_call; /* in the line of calls */
    struct dpulib_operation *operation;
    struct dpu_rank_t *rank;
    struct dpu_t *dpu; /* the one that it is about; NULL: all of the rank */
    uint64_t number;   /* of the rank's jobs */
    enum dpulib_state state;
    bool queued;    /* else the rank is held by a callback of this thread */
    uint32_t index; /* of the rank in the set */
    uint32_t items_left;
    dpu_error_t error; /* of the DPU with the lowest index that failed */
    uint32_t failed;   /* the index of that one */
    uint32_t failures; /* DPUs that failed */
    char *detail;
    struct dpulib_item item;
};

struct dpulib_callback {
    dpu_error_t (*function)(struct dpu_set_t, uint32_t, void *);
    void *argument;
    struct dpu_set_t set;
    bool blocking, single;
};

struct dpulib_operation {
    struct dpulib_operation *next; /* of those that are to be released */
    struct dpulib_work work;
    struct dpulib_callback callback;
    enum dpulib_style style;
    bool launch, async, spread;
    uint32_t count, left, arrived;
    uint32_t dpus; /* that it is about */
    uint32_t span; /* DPUs of an item */
    struct dpulib_job jobs[];
};

/* --- the lock (core.c) --- */
void dpulib_lock(void);
/* False if it is held for longer than so many nanoseconds. */
bool dpulib_lock_soon(int64_t limit);
void dpulib_unlock(void);
/* With the lock: waits for dpulib_changed(); false after the deadline (of clock.h). */
bool dpulib_wait(int64_t deadline);
void dpulib_changed(void);
/* Waits for a condition of the caller's own, until a time or for ever; as pthread_cond_wait(). */
int dpulib_wait_on(pthread_cond_t *condition, const struct timespec *until);
/* Counts the forks that led to this process. */
uint64_t dpulib_generation(void);
/* In order of creation. */
extern struct dpu_rank_t *dpulib_ranks;
void dpulib_verbose_setup(void);

/* --- queues (queue.c); all with the lock --- */
void dpulib_enqueue(struct dpulib_job *job);
/* Makes a job that has the rank to itself run without the queue. */
void dpulib_start_held(struct dpulib_job *job);
/* Takes a job that was done out of its queue, so that the next one starts. */
void dpulib_job_done(struct dpulib_job *job);
/* The text of an error whose own text could not be kept. */
#define DPULIB_NO_DETAIL "out of memory (there was none for the text of this error)"
void dpulib_note_error(struct dpulib_job *job, uint32_t index, dpu_error_t error);
/* Adds to the text of an error, if it is one, how many DPUs more failed; it stays the error. */
dpu_error_t dpulib_count_failures(dpu_error_t error, uint32_t failures);
/* Whether the jobs before NUMBER are over. */
bool dpulib_is_past(const struct dpu_rank_t *rank, uint64_t number);
/* Instead of dpulib_unlock() where jobs may have ended: frees the asynchronous ones. */
void dpulib_unlock_and_release(void);

/* --- threads (pool.c); with the lock --- */
void dpulib_pool_reset(void);
void dpulib_pool_set_limit(uint32_t threads);
/* Whether there is a thread that can do items; makes one if not. */
bool dpulib_pool_is_ready(void);
void dpulib_pool_push(struct dpulib_item *item);
/* Does an item of an operation if there is one and a core is free for it; gives up the lock
 * meanwhile. */
bool dpulib_pool_help(const struct dpulib_operation *operation);
/* The threads look again whether they are needed. */
void dpulib_pool_wake(void);
/* A detached one that no signal goes to. */
bool dpulib_make_thread(void *(*function)(void *));

/* --- calls (calls.c) --- */
void dpulib_calls_reset(void);
/* With the lock. False if there is no thread to do it. */
bool dpulib_calls_push(struct dpulib_job *job);
void dpulib_calls_wake(void);
/* Whether a callback that this thread is in has the rank to itself. */
bool dpulib_is_held(const struct dpu_rank_t *rank);
bool dpulib_is_in_callback(void);
/* Does a job: calls its function, or works on its DPUs one by one; without the lock. */
void dpulib_call(struct dpulib_job *job);

/* --- operations (submit.c) --- */
struct dpulib_operation *dpulib_operation_new(struct dpu_set_t set, const struct dpulib_work *work);
dpu_error_t dpulib_operation_run(struct dpulib_operation *operation);
/* Waits until all that was queued for the ranks of a set when this was called is over. */
bool dpulib_drain(struct dpu_set_t set, int64_t deadline);

/* --- ranks (rank.c) --- */
dpu_error_t dpulib_check_set_locked(struct dpu_set_t set);
uint32_t dpulib_set_ranks(const struct dpu_set_t *set);
struct dpu_rank_t *dpulib_set_rank(const struct dpu_set_t *set, uint32_t index);
/* Whether an array of a set can have so many ranks; it is not looked at, as callers may give any.
 */
bool dpulib_may_have_ranks(struct dpu_rank_t *const *ranks, uint32_t count);
/* A rank with COUNT DPUs enabled. It is not among the ranks yet. */
dpu_error_t dpulib_rank_create(const struct dpulib_profile *profile, uint32_t id, uint32_t count,
                               struct dpu_rank_t **rank);
/* Of a rank that is no longer among them and has no jobs. Without the lock. */
void dpulib_rank_destroy(struct dpu_rank_t *rank);

/* --- programs (program.c) --- */
/* Reads IMAGE, which then belongs to the program, also if it fails. There is one reference. */
dpu_error_t dpulib_program_create(uint8_t *image, size_t size, const char *path,
                                  struct dpulib_program **program);

/* --- descriptions (description.c) --- */
dpu_description_t dpulib_description_new(const struct dpulib_profile *profile);

/* --- profiles (profile.c) --- */
/* Cycles a second: what programs find in CLOCKS_PER_SEC. The vendor's simulator says 500 MHz. */
uint32_t dpulib_clock(const struct dpu_rank_t *rank);
/* An allocated copy of a file; DPU_ERR_SYSTEM. */
dpu_error_t dpulib_read_file(const char *path, uint8_t **image, size_t *size);
/* The error for a file that is no program, with a text; PATH may be NULL. */
dpu_error_t dpulib_elf_fail(enum dpu_elf_status status, const char *path);

/* --- warnings (warnings.c) --- */
/* On stderr, or kept for a caller who asked for them by dpusoft_keep_warnings(). */
__attribute__((format(printf, 2, 3))) void dpulib_warn(struct dpu_rank_t *rank, const char *format,
                                                       ...);
bool dpulib_keeps_warnings(const struct dpu_rank_t *rank);

/* --- modelled time (modelled_time.c) --- */
void dpulib_time_setup(void);
/* With the lock: in a forked child, which has not done anything yet. */
void dpulib_time_reset(void);
/* With the lock: an operation has come to its end. */
void dpulib_time_note(const struct dpulib_operation *operation);

/* --- launches (launch.c) --- */
struct dpulib_launch_figures {
    _Atomic uint64_t cycles; /* of the DPU that took longest */
    _Atomic uint64_t instructions;
    _Atomic uint64_t dma_bytes;
};
/* Of an operation that is a launch. */
const struct dpulib_launch_figures *dpulib_launch_figures(const void *argument);
struct dpulib_boot {
    bool boot; /* tasklet 0, as a launch */
    bool resume;
    dpu_thread_t thread;
};
dpu_error_t dpulib_launch(struct dpu_set_t set, struct dpulib_boot boot, bool async);

#endif
