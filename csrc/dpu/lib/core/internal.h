/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internal.h: what the parts of the soft libdpu share.
 *
 * Everything that changes is behind one lock (core.c): the ranks that exist, their queues, the
 * pool. What works on a DPU, reading and writing its machine among it, is a *work* that
 * dpulib_submit() puts into the queue of each rank that a set has; at most one at a time works on
 * a DPU, so it needs no lock of its own.
 */
#ifndef OFFCHIP_DPU_LIB_INTERNAL_H
#define OFFCHIP_DPU_LIB_INTERNAL_H

#include "dpu.h"
#include "dpu_bank_interface_pmc.h"
#include "dpu_management.h"
#include "dpu_program.h"
#include "dpu_runner.h"
#include "dpusoft.h"
#include "formats/dpu_elf.h"
#include "dpu/machine/machine.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPU_EXPORT __attribute__((visibility("default")))

/* --- errors (error.c) ------------------------------------------------------------------------ */

/*
 * Returns CODE, and keeps the text as what dpusoft_last_error_detail() tells this thread. An empty
 * format leaves nothing there. A work that fails in another thread passes its text on.
 */
__attribute__((format(printf, 2, 3))) dpu_error_t dpulib_fail(dpu_error_t code, const char *format,
                                                              ...);
const char *dpulib_detail(void);

/* --- messages on stderr (verbose.c) ---------------------------------------------------------- */

enum dpulib_level { DPULIB_WARNING = 1, DPULIB_INFO, DPULIB_DEBUG };

/* "api:W:2026-01-01|12:00:00: text" if UPMEM_VERBOSE lets it through; warnings always. */
__attribute__((format(printf, 2, 3))) void dpulib_log(enum dpulib_level level, const char *format,
                                                      ...);

/* --- profiles (profile.c) -------------------------------------------------------------------- */

struct dpulib_profile {
    dpu_type_t backend;      /* that the program is to believe in */
    bool vendor_accounting;  /* backend=simulator */
    uint32_t chip_id;        /* above 8: v1B */
    bool chip_given;         /* by a profile: programs for the other chip are refused */
    uint32_t members;        /* DPUs of a slice, 1 to 8 */
    uint32_t clock_mhz;      /* of the DPUs */
    uint32_t clock_division; /* only told */
    bool reset_on_alloc;
    bool sg_enabled;
    uint32_t sg_max_blocks;
    uint32_t threads_per_rank;          /* 0: asynchronous calls are refused */
    uint32_t jobs_per_rank;             /* that a queue holds before a caller has to wait */
    uint32_t ranks;                     /* that exist */
    bool ranks_given;                   /* by a profile or the environment */
    uint32_t host_threads;              /* for launches and copies; 0: all cores */
    struct dpu_machine_options machine; /* but its architecture and accounting */
};

/* Reads UPMEM_PROFILE_BASE, TEXT (NULL: nothing) and UPMEM_PROFILE, each over the one before. */
dpu_error_t dpulib_profile_read(struct dpulib_profile *profile, const char *text);

/* --- programs (program.c, load.c) ------------------------------------------------------------ */

/* The public part is first, so that a pointer to it is one to the whole. */
struct dpulib_program {
    struct dpu_program_t public;
    struct dpu_elf elf; /* of image */
    uint8_t *image;
    dpu_elf_symbols_t symbols;   /* by name */
    dpu_elf_symbols_t profiling; /* none; its address tells our programs from those of callers */
    struct dpulib_meetings *meetings; /* waiting.h */
    uint64_t *iram;                   /* words of the segments, one after the other */
};

/* NULL for one that a caller made by dpu_load_elf_program(). */
static inline struct dpulib_program *dpulib_program_of(struct dpu_program_t *program)
{
    struct dpulib_program *ours = (struct dpulib_program *)program;
    return program != NULL && program->profiling_symbols == &ours->profiling ? ours : NULL;
}

/* --- ranks and DPUs (rank.c) ----------------------------------------------------------------- */

struct dpulib_operation;
struct dpulib_job;
struct dpulib_item {
    struct dpulib_item *next;
    struct dpulib_job *job;
    struct dpu_t *dpu; /* NULL: all that the job is about, one after the other */
    uint32_t span;     /* that many from it on in the rank, of which some may be disabled */
};

/* The counters of dpu_bank_interface_pmc.h: totals when they were enabled and stopped. */
struct dpulib_bank_counters {
    enum { DPULIB_NOT_COUNTING, DPULIB_COUNTING, DPULIB_STOPPED } state;
    bank_interface_pmc_mode_t mode;
    bank_interface_pmc_event_t events[2];
    uint64_t start[2], stop[2];
};

struct dpu_t {
    struct dpu_rank_t *rank;
    uint8_t slice, member;
    bool enabled;
    struct dpu_machine *machine;   /* NULL if it is not enabled */
    struct dpu_program_t *program; /* NULL before the first load; under the lock */
    void *xfer_buffer;             /* what dpu_prepare_xfer() gave; under the lock */
    struct dpu_run_result result;  /* of the last launch; as machine, for works only */
    uint32_t status;               /* enum dpusoft_status; likewise */
    uint64_t *breakpoints;         /* a bit an instruction; NULL without any; likewise */
    struct dpulib_bank_counters bank_counters; /* likewise */
    pthread_mutex_t turn;     /* held while the machine runs, and by parallel works */
    _Atomic uint32_t waiting; /* parallel works that want the turn */
    bool stuck;               /* ended against its will; it does not run until a load */
    bool stepping;            /* a launch is under way, and has another turn */
    uint32_t launches;        /* queued or running; under the lock, as what follows */
    bool in_fault;            /* as dpu_status() shows it */
    bool interrupted;         /* what is launched is to end */
    bool debugging;           /* dpusoft_debug_continue() is at work */
    struct dpulib_item item;
};

struct dpu_rank_t {
    struct dpu_t dpus[DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI]; /* slice * members + member */
    uint32_t id;
    uint32_t members; /* DPUs of a slice */
    uint32_t count;   /* DPUs that are enabled */
    struct dpulib_profile profile;
    struct dpu_rank_t *self; /* what sets of this one rank point to */
    dpu_description_t description;
    struct _dpu_run_context_t run_context;
    pthread_mutex_t user_lock; /* dpu_lock_rank() */
    /* The rest: under the lock. */
    bool alive;
    uint64_t generation;     /* of the process that it belongs to */
    struct dpu_rank_t *next; /* of those that are alive, or that are to be used again */
    struct dpulib_job *first, *last;
    uint32_t jobs;     /* in the queue */
    uint64_t queued;   /* jobs so far */
    uint32_t detached; /* nonblocking callbacks that have not returned */
    dpu_error_t error; /* of the first asynchronous job that failed; for dpu_sync() */
    char *detail;
    uint32_t failures; /* DPUs of asynchronous jobs that failed; likewise */
    bool keeps_warnings;
    char *warning;     /* the first one that nobody has taken yet */
    uint32_t warnings; /* how many there are */
};

static inline uint32_t dpulib_rank_size(const struct dpu_rank_t *rank)
{
    return DPU_MAX_NR_CIS * rank->members;
}

/* slice * members + member: the index of a DPU in its rank and in transfer matrices. */
static inline uint32_t dpulib_dpu_index(const struct dpu_t *dpu)
{
    return (uint32_t)(dpu - dpu->rank->dpus);
}

/*
 * DPU_OK if the set exists: one DPU that is enabled, or ranks, none of which has been freed. Else
 * the error, which has a text. What is checked can be freed by another thread at once; a submit
 * notices.
 */
dpu_error_t dpulib_check_set(struct dpu_set_t set);
dpu_error_t dpulib_check_rank(const struct dpu_rank_t *rank);
/* An enabled DPU; DPU_ERR_DPU_DISABLED for one that is not. */
dpu_error_t dpulib_check_dpu(const struct dpu_t *dpu);
/* A set of kind DPU that exists: *dpu; else DPU_ERR_INVALID_DPU_SET. */
dpu_error_t dpulib_check_single(struct dpu_set_t set, struct dpu_t **dpu);

/*
 * The enabled DPUs of a set that was checked, rank by rank in the order of their indexes:
 *     for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
 */
struct dpulib_cursor {
    uint32_t rank, index;
};
struct dpu_t *dpulib_next_dpu(const struct dpu_set_t *set, struct dpulib_cursor *at);

/*
 * The program that the DPUs of a set have, to be given back by dpu_free_program(); or
 * DPU_ERR_NO_PROGRAM_LOADED, DPU_ERR_DIFFERENT_DPU_PROGRAMS. DPUs without one do not count.
 */
dpu_error_t dpulib_common_program(struct dpu_set_t set, struct dpu_program_t **program);

/* --- work (queue.c, submit.c) ---------------------------------------------------------------- */

/* What the text of an asynchronous error calls a job. X(name, value, text) */
#define DPULIB_JOBS(X) \
    X(UNKNOWN, 0, "unknown job type") \
    X(LAUNCH_RANK, 1, "launch_rank") \
    X(LAUNCH_DPU, 2, "launch_dpu") \
    X(SYNC, 3, "synchronization") \
    X(SYNC_PARALLEL, 4, "synchronization parallel") \
    X(WRAM_TO_MATRIX, 5, "copy_wram_to_matrix") \
    X(PARALLEL_WRAM_TO_MATRIX, 6, "parallel_copy_wram_to_matrix") \
    X(PARALLEL_WRAM_TO_FIFO, 7, "parallel_copy_wram_to_fifo") \
    X(IRAM_TO_MATRIX, 8, "copy_iram_to_matrix") \
    X(MRAM_TO_MATRIX, 9, "copy_mram_to_matrix") \
    X(WRAM_FROM_MATRIX, 10, "copy_wram_from_matrix") \
    X(PARALLEL_WRAM_FROM_MATRIX, 11, "parallel_copy_wram_from_matrix") \
    X(PARALLEL_WRAM_FROM_FIFO, 12, "parallel_copy_wram_from_fifo") \
    X(IRAM_FROM_MATRIX, 13, "copy_iram_from_matrix") \
    X(MRAM_FROM_MATRIX, 14, "copy_mram_from_matrix") \
    X(WRAM_TO_RANK, 15, "copy_wram_to_rank") \
    X(IRAM_TO_RANK, 16, "copy_iram_to_rank") \
    X(MRAM_TO_RANK, 17, "copy_mram_to_rank") \
    X(CALLBACK, 18, "callback")

enum dpulib_job_kind {
#define DPULIB_JOB_(name, value, text) DPULIB_JOB_##name = value,
    DPULIB_JOBS(DPULIB_JOB_)
#undef DPULIB_JOB_
};

/* How a work moves data between the host and DPUs: what its modelled time depends on.
 * X(name, text) */
#define DPULIB_MOVES(X) \
    X(SERIAL_TO, "serial_to") \
    X(SERIAL_FROM, "serial_from") \
    X(PARALLEL_TO, "parallel_to") \
    X(PARALLEL_FROM, "parallel_from") \
    X(BROADCAST, "broadcast")

enum dpulib_move {
    DPULIB_NO_MOVE,
#define DPULIB_MOVE_(name, text) DPULIB_##name,
    DPULIB_MOVES(DPULIB_MOVE_)
#undef DPULIB_MOVE_
        DPULIB_MOVE_COUNT
};

struct dpulib_work {
    enum dpulib_job_kind kind;
    /*
     * Works on one DPU; may be called for several at once by different threads. Reads what it is
     * told from ARGUMENT. DPU_OK or an error by dpulib_fail().
     */
    dpu_error_t (*run)(struct dpu_t *dpu, void *argument);
    void *argument;
    /* Called once when nothing uses the argument any more, also when submitting failed; NULL:
     * nothing is to be done. May be called by any thread, and before dpulib_submit() returns. */
    void (*release)(void *argument);
    /* Bytes that the work moves for each DPU: what is worth it is spread over the host's cores. */
    size_t bytes;
    enum dpulib_move move;
    /* The DPUs that take part, if not all do: those that have an entry. */
    const struct dpulib_table *moved;
    /* Beside a launch that runs, and else in its place in the queue. It may wait for the DPU. */
    bool parallel;
};

/*
 * Works on every enabled DPU of a set, behind what is queued for its ranks. Synchronously the
 * result is that of the work: of the first DPU that failed; the others are worked on none the
 * less. Asynchronously it is DPU_OK if it was queued, and dpu_sync() has the result. From within
 * a blocking callback of a rank, synchronous work on that rank runs at once.
 */
dpu_error_t dpulib_submit(struct dpu_set_t set, const struct dpulib_work *work, bool async);
/* The same for a rank or a DPU, synchronously. */
dpu_error_t dpulib_work_on_rank(struct dpu_rank_t *rank, const struct dpulib_work *work);
dpu_error_t dpulib_work_on_dpu(struct dpu_t *dpu, const struct dpulib_work *work);

/* --- faults (fault.c) ------------------------------------------------------------------------ */

/* Room for what dpulib_explain() says. */
#define DPULIB_EXPLANATION_MAX 1800

/* How the launch of a DPU ended, if it ended badly: in a fault, early, or with tasklets that sleep;
 * "" if all is well. For works. */
void dpulib_explain(const struct dpu_t *dpu, char *text, size_t size);
/* What happened to a DPU, as dpusoft_describe_fault(); for works. */
void dpulib_describe_fault(struct dpu_t *dpu, char *text, size_t size);

#endif
