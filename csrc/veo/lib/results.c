/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results that have been harvested and not fetched. Ids come in order and mostly go in order, so
 * they are kept in pages of 64 neighbours; a hash table with chains finds the page of an id.
 */
#include <stdlib.h>

#include "veo/lib/host.h"

enum { PAGE = 64 };

struct result_page {
    struct result_page *next; /* in its bucket */
    uint64_t number;          /* id / PAGE */
    uint64_t present;         /* a bit an entry */
    uint64_t results[PAGE];
    uint8_t outcomes[PAGE];
};

static struct result_page **bucket_of(const struct result_table *table, uint64_t number)
{
    return &table->buckets[number & (table->nbuckets - 1)];
}

static bool grow(struct result_table *table)
{
    struct result_table bigger = {.nbuckets = table->nbuckets ? 4 * table->nbuckets : 16,
                                  .npages = table->npages,
                                  .spare = table->spare};
    bigger.buckets = calloc(bigger.nbuckets, sizeof(struct result_page *));
    if (!bigger.buckets)
        return false;
    for (size_t i = 0; i < table->nbuckets; i++) {
        for (struct result_page *page = table->buckets[i], *next; page; page = next) {
            struct result_page **bucket = bucket_of(&bigger, page->number);
            next = page->next;
            page->next = *bucket;
            *bucket = page;
        }
    }
    free(table->buckets);
    *table = bigger;
    return true;
}

static struct result_page *find(const struct result_table *table, uint64_t number)
{
    if (!table->npages)
        return NULL;
    struct result_page *page = *bucket_of(table, number);
    while (page && page->number != number)
        page = page->next;
    return page;
}

bool veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result)
{
    struct result_page *page = find(table, id / PAGE);
    if (!page) {
        if (table->npages >= table->nbuckets && !grow(table) && !table->nbuckets)
            return false;
        page = table->spare ? table->spare : malloc(sizeof *page);
        if (!page)
            return false;
        table->spare = NULL;
        struct result_page **bucket = bucket_of(table, id / PAGE);
        page->number = id / PAGE;
        page->present = 0;
        page->next = *bucket;
        *bucket = page;
        table->npages++;
    }
    page->present |= UINT64_C(1) << id % PAGE;
    page->results[id % PAGE] = result;
    page->outcomes[id % PAGE] = (uint8_t)outcome;
    return true;
}

bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result)
{
    struct result_page *page = find(table, id / PAGE);
    uint64_t bit = UINT64_C(1) << id % PAGE;
    if (!page || !(page->present & bit))
        return false;
    *outcome = page->outcomes[id % PAGE];
    *result = page->results[id % PAGE];
    page->present &= ~bit;
    if (!page->present) {
        struct result_page **at = bucket_of(table, page->number);
        while (*at != page)
            at = &(*at)->next;
        *at = page->next;
        table->npages--;
        if (table->spare)
            free(page);
        else
            table->spare = page;
    }
    return true;
}

void veolib_results_clear(struct result_table *table)
{
    for (size_t i = 0; i < table->nbuckets; i++) {
        for (struct result_page *page = table->buckets[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
    }
    free(table->buckets);
    free(table->spare);
    *table = (struct result_table){0};
}
