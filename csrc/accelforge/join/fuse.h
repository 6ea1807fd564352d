/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuse.h: joins pmappings of all Einsums to mappings of the whole workload.
 *
 * Einsums are joined in their order. Two that share a tensor hold it in the same memory, below
 * loops that are the same in ranks, tiles and order; loops with nothing held between them may
 * change places. What memories hold at each time is what accelforge/model/join.h says.
 *
 * A quick pass with few partial results finds good mappings. With these, and with bounds on what
 * later Einsums cost, the second pass leaves out what cannot be best, and nothing else.
 */
#ifndef OFFCHIP_FUSE_FUSE_H
#define OFFCHIP_FUSE_FUSE_H

#include "accelforge/join/goal.h"
#include "accelforge/join/pool.h"

/* X(name): what `progress` counts. */
#define FUSE_COUNTERS(X) \
    X(PASS)    /* from 1 on */ \
    X(EINSUMS) /* that this pass has joined */ \
    X(ROWS)    /* partial results after the last of them */ \
    X(JOINED)  /* pairs of rows, in all passes */

enum fuse_counter {
#define X(name) FUSE_COUNT_##name,
    FUSE_COUNTERS(X)
#undef X
        FUSE_COUNTER_COUNT
};

struct fuse_request {
    const struct fuse_tables *tables;
    struct fuse_goal goal;
    struct fuse_limits limits;
    double objective_tolerance; /* 0: exact */
    double usage_tolerance;
    bool all_memories;  /* to be tracked, also those that are large enough for everything */
    uint64_t *progress; /* FUSE_COUNTER_COUNT numbers that others may read meanwhile, or NULL */
};

/* The best results: none is worse than another in all measures. */
struct fuse_answer {
    size_t row_count;
    double *objectives; /* per row and objective */
    double *usage;      /* per row and memory: the most that it holds; NaN if it is not tracked */
    uint32_t *groups;   /* per row and Einsum: number of the group */
    uint32_t *rows;     /* per row and Einsum: number of the row in it */
    bool complete;      /* false: stopped before everything was looked at */
    double least[FUSE_MAX_OBJECTIVES]; /* no mapping has less of an objective */
    double least_product;              /* no mapping has a smaller energy-delay product */
    uint64_t joined;                   /* pairs of rows */
};

/*
 * Joins. ANSWER is released by fuse_answer_clear(), also after a failure, which FAULT describes.
 * FUSE_STOPPED: a limit was reached before there was any result; with results it is FUSE_OK. What
 * comes out does not depend on the number of threads.
 */
enum fuse_status fuse_join(const struct fuse_request *request, struct fuse_answer *answer,
                           struct fuse_fault *fault);
void fuse_answer_clear(struct fuse_answer *answer);

#endif
