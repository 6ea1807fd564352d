/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/results.h"

#include <stdlib.h>

enum { PAGE = 64 };

struct result_page {
    struct result_page *next; /* in the same bucket */
    uint64_t number;          /* id / PAGE */
    uint64_t present;         /* one bit per entry */
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
    if (bigger.buckets == NULL)
        return false;

    for (size_t i = 0; i < table->nbuckets; i++) {
        for (struct result_page *page = table->buckets[i], *next; page != NULL; page = next) {
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
    if (table->npages == 0)
        return NULL;

    struct result_page *page = *bucket_of(table, number);
    while (page != NULL && page->number != number)
        page = page->next;
    return page;
}

/* The page for ids around NUMBER * PAGE, made if need be; NULL without memory. */
static struct result_page *find_or_add(struct result_table *table, uint64_t number)
{
    struct result_page *page = find(table, number);
    if (page != NULL)
        return page;

    /* A table that cannot grow is slower, not full. */
    if (table->npages >= table->nbuckets && !grow(table) && table->nbuckets == 0)
        return NULL;
    page = table->spare != NULL ? table->spare : malloc(sizeof *page);
    if (page == NULL)
        return NULL;
    table->spare = NULL;

    struct result_page **bucket = bucket_of(table, number);
    page->number = number;
    page->present = 0;
    page->next = *bucket;
    *bucket = page;
    table->npages++;
    return page;
}

static void remove_page(struct result_table *table, struct result_page *page)
{
    struct result_page **at = bucket_of(table, page->number);
    while (*at != page)
        at = &(*at)->next;
    *at = page->next;
    table->npages--;

    if (table->spare != NULL)
        free(page);
    else
        table->spare = page;
}

bool veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result)
{
    struct result_page *page = find_or_add(table, id / PAGE);
    if (page == NULL)
        return false;

    page->present |= UINT64_C(1) << id % PAGE;
    page->results[id % PAGE] = result;
    page->outcomes[id % PAGE] = (uint8_t)outcome;
    return true;
}

bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result)
{
    struct result_page *page = find(table, id / PAGE);
    uint64_t bit = UINT64_C(1) << id % PAGE;
    if (page == NULL || !(page->present & bit))
        return false;

    *outcome = page->outcomes[id % PAGE];
    *result = page->results[id % PAGE];
    page->present &= ~bit;
    if (page->present == 0)
        remove_page(table, page);
    return true;
}

void veolib_results_clear(struct result_table *table)
{
    for (size_t i = 0; i < table->nbuckets; i++) {
        for (struct result_page *page = table->buckets[i], *next; page != NULL; page = next) {
            next = page->next;
            free(page);
        }
    }

    free(table->buckets);
    free(table->spare);
    *table = (struct result_table){0};
}
