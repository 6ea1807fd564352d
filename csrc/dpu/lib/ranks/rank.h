/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank.h: ranks and their DPUs as objects.
 *
 * Ownership. A rank belongs to the allocation that it is part of (sets/alloc.c), and owns its
 * machines, its description and a reference to the program of each DPU. Its memory is only ever
 * used for another rank, so that a set which is used after it was freed is noticed (check.h).
 *
 * Threads. Members say what guards them. At most one operation at a time works on a DPU, so what is
 * "for operations only" needs no lock.
 */
#ifndef OFFCHIP_DPU_LIB_RANK_H
#define OFFCHIP_DPU_LIB_RANK_H

#include "common/list.h"
#include "dpu.h"
#include "dpu/lib/core/task.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/machine/machine.h"
#include "dpu_bank_interface_pmc.h"
#include "dpu_description.h"
#include "dpu_runner.h"
#include "dpusoft.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The counters of dpu_bank_interface_pmc.h: totals when they were enabled and stopped. */
struct dpulib_bank_counters {
    enum { DPULIB_NOT_COUNTING, DPULIB_COUNTING, DPULIB_STOPPED } state;
    bank_interface_pmc_mode_t mode;
    bank_interface_pmc_event_t events[2];
    uint64_t start[2], stop[2];
};

/* Observer of a machine, until its rank is destroyed. */
struct dpulib_attachment {
    struct dpulib_attachment *next;
    void (*release)(struct dpulib_attachment *attachment); /* the machine still exists */
};

struct dpulib_remote;

struct dpu_t {
    struct dpu_rank_t *rank;
    uint8_t slice, member;
    bool enabled;
    struct dpu_machine *machine;   /* NULL if it is not enabled */
    struct dpu_program_t *program; /* NULL before the first load; under the lock */
    void *xfer_buffer;             /* what dpu_prepare_xfer() gave; under the lock */
    struct dpu_run_result result;  /* of the last launch; as machine, for operations only */
    uint32_t status;               /* enum dpusoft_status; likewise */
    uint64_t *breakpoints;         /* one bit per instruction; NULL without any; likewise */
    struct dpulib_bank_counters bank_counters; /* likewise */
    pthread_mutex_t turn;     /* held while the machine runs, and by what runs beside a launch */
    _Atomic uint32_t waiting; /* operations beside a launch that want the turn */
    struct dpulib_attachment *attachments; /* for operations only */
    struct dpulib_remote *remote;          /* NULL: no server runs it; see remote/remote.h */
    bool here;                             /* its launch is under way in this process; likewise */
    bool recalled;           /* its launches run here until a load; for operations only, as below */
    bool stuck;              /* ended against its will; it does not run until a load */
    bool stepping;           /* a launch is under way, and has another turn */
    uint32_t launches;       /* queued or running; under the lock, as what follows */
    bool in_fault;           /* as dpu_status() shows it */
    bool interrupted;        /* what is launched is to end */
    bool debugging;          /* dpusoft_debug_continue() is at work */
    struct dpulib_task task; /* of the operation that is spread over DPUs */
};

struct dpu_rank_t {
    struct dpu_t dpus[DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI]; /* slice * members + member */
    uint32_t id;
    uint32_t members; /* DPUs of a slice */
    uint32_t count;   /* DPUs that are enabled */
    struct dpulib_configuration configuration;
    struct dpu_rank_t *self; /* what sets of this one rank point to */
    dpu_description_t description;
    struct _dpu_run_context_t run_context;
    pthread_mutex_t user_lock; /* dpu_lock_rank() */

    /* The rest: under the lock. */
    bool alive;
    bool ending;           /* dpu_free() waits for what is queued */
    uint64_t generation;   /* of the process that it belongs to */
    struct list_node node; /* in dpulib_ranks, or of those to be used again */
    struct list queue;     /* of rank jobs */
    uint32_t jobs;         /* in the queue */
    uint64_t queued;       /* rank jobs so far */
    uint32_t detached;     /* nonblocking callbacks that have not returned */
    dpu_error_t error;     /* of the first asynchronous rank job that failed; for dpu_sync() */
    char *detail;
    uint32_t failures; /* DPUs of asynchronous rank jobs that failed; likewise */
    bool keeps_warnings;
    char *warning;     /* the first one that has not been taken */
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

/* With the lock: the ranks of this process, in order of their allocation. */
extern struct list dpulib_ranks;

static inline struct dpu_rank_t *dpulib_rank_at(struct list_node *node)
{
    return LIST_ENTRY(node, struct dpu_rank_t, node);
}

/* A rank with COUNT DPUs enabled, which is not in dpulib_ranks yet. DPU_ERR_ALLOCATION if out of
 * memory. Without the lock. */
dpu_error_t dpulib_rank_create(const struct dpulib_configuration *configuration, uint32_t id,
                               uint32_t count, struct dpu_rank_t **made);
/* Ends a rank that has left dpulib_ranks and whose queue is empty. Without the lock. */
void dpulib_rank_destroy(struct dpu_rank_t *rank);

#endif
