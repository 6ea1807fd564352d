/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h: results that were taken out of a queue and that no one has fetched yet.
 *
 * Ids are added in increasing order and mostly fetched in that order, so the table stores pages of
 * 64 neighbouring ids, which a hash table finds. There is a page for every request that was
 * submitted, so that a result has room whatever memory is left: a page is reserved with its first
 * id and kept until all of its ids are settled and fetched.
 *
 * A table of all zeros is empty. It has no lock; the caller has one (a context's queue lock). No
 * function blocks.
 */
#ifndef VEOLIB_RESULTS_H
#define VEOLIB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESULT_PAGE = 64 };

struct result_page;

struct result_table {
    struct result_page **buckets;
    size_t nbuckets; /* a power of two, or 0 */
    size_t npages;
    uint64_t settled;          /* requests below this id, the end of a page */
    struct result_page *spare; /* one empty page, so that a steady flow allocates nothing */
};

/* Makes room for the result of ID. False if there is no memory; the table is then unchanged. */
bool veolib_results_reserve(struct result_table *table, uint64_t id);

/* Adds a result, for which there is room. */
void veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result);

/* All requests below END, the end of a page, are settled: what they have reserved and do not use is
 * free. */
void veolib_results_settle_page(struct result_table *table, uint64_t end);

/* The same for every END in turn. */
static inline void veolib_results_settle(struct result_table *table, uint64_t end)
{
    if (end % RESULT_PAGE == 0)
        veolib_results_settle_page(table, end);
}

/* Removes a result and returns it. False if the table does not hold it. */
bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result);

/* The id after those that have their results in one page with ID. */
static inline uint64_t veolib_results_end_of_page(uint64_t id)
{
    return (id / RESULT_PAGE + 1) * RESULT_PAGE;
}

/* Removes all results and frees the memory. */
void veolib_results_clear(struct result_table *table);

#endif
