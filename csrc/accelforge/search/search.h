/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * search.h: the search of one Einsum's mapspace, in several threads.
 *
 * Templates are independent. All of them are first searched with few choices at each loop, which
 * gives results that bound the second, exact search of those that had more choices. What is found
 * does not depend on the number of threads.
 */
#ifndef OFFCHIP_FORGE_SEARCH_H
#define OFFCHIP_FORGE_SEARCH_H

#include "accelforge/search/tiles.h"

struct forge_search;

/* How far a search is. */
struct forge_progress {
    uint64_t templates; /* 0: they are being made */
    uint64_t done;
    uint64_t evaluated;
    uint64_t valid;
    uint64_t kept;
};

struct forge_search_request {
    const struct forge_space *space;
    unsigned threads;
    size_t memory_limit; /* bytes */
    uint32_t width;      /* 0, or: only the first search, with so many choices at each loop */
    struct forge_incumbents incumbents; /* pmappings that all of them dominate are pruned */
};

/*
 * Starts threads that search a space; all that REQUEST points to must stay as it is until the
 * search is destroyed. *SEARCH is NULL after a failure; otherwise it is released by
 * forge_search_destroy(). FAULT says what is wrong.
 */
enum forge_status forge_search_start(struct forge_search **search,
                                     const struct forge_search_request *request,
                                     struct forge_fault *fault);

/* Waits up to SECONDS; whether the search has ended. */
bool forge_search_wait(struct forge_search *search, double seconds);

/* Makes the search end soon with what it has. Any thread may call it. */
void forge_search_stop(struct forge_search *search);

struct forge_progress forge_search_progress(struct forge_search *search);

/* Sets BEST to the least of each objective that was found so far, and BOUND to what no pmapping of
 * a template that is not finished is below: FORGE_OBJECTIVES numbers each, infinite if there is
 * none. Any thread may call it while the search runs. */
void forge_search_standing(struct forge_search *search, double *best, double *bound);

/* Sets LOW to what no pmapping of a template is below, found or not, after the search has ended:
 * FORGE_OBJECTIVES numbers. */
void forge_search_low(const struct forge_search *search, uint32_t t, double *low);

/* Results of a search that has ended. */
struct forge_found {
    enum forge_status status;
    const struct forge_templates *templates;
    const struct forge_rows *rows; /* per template */
    bool complete;
    double bound[FORGE_OBJECTIVES]; /* what was left out is not below this */
};
enum forge_status forge_search_finish(struct forge_search *search, struct forge_found *found,
                                      struct forge_fault *fault);

/* Ends the search first, if it has not ended. NULL is allowed. */
void forge_search_destroy(struct forge_search *search);

#endif
