/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h: results that were taken out of a queue and that no one has fetched yet.
 *
 * Ids are added in increasing order and mostly fetched in that order, so the table stores pages of
 * 64 neighbouring ids, which a hash table finds.
 *
 * A table of all zeros is empty. It has no lock; the caller has one (a context's queue lock). No
 * function blocks.
 */
#ifndef VEOLIB_RESULTS_H
#define VEOLIB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct result_page;

struct result_table {
    struct result_page **buckets;
    size_t nbuckets; /* a power of two, or 0 */
    size_t npages;
    struct result_page *spare; /* one empty page, so that a steady flow allocates nothing */
};

/* Adds a result. False if there is no memory; the table is then unchanged. */
bool veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result);

/* Removes a result and returns it. False if the table does not hold it. */
bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result);

/* Removes all results and frees the memory. */
void veolib_results_clear(struct result_table *table);

#endif
