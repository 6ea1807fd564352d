/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/results.h"

#include <stdlib.h>

struct result_page {
    struct result_page *next; /* in the same bucket */
    uint64_t number;          /* id / RESULT_PAGE */
    uint64_t present;         /* one bit per entry */
    uint64_t results[RESULT_PAGE];
    uint8_t outcomes[RESULT_PAGE];
};

static struct result_page **bucket_of(const struct result_table *table, uint64_t number)
{
    return &table->buckets[number & (table->nbuckets - 1)];
}

static bool grow(struct result_table *table)
{
    struct result_table bigger = {.nbuckets = table->nbuckets ? 4 * table->nbuckets : 16,
                                  .npages = table->npages,
                                  .settled = table->settled,
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

/* The page for ids around NUMBER * RESULT_PAGE, made if need be; NULL without memory. */
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

/* Removes a page that no request will use. */
static void remove_if_done(struct result_table *table, struct result_page *page)
{
    if (page->present == 0 && (page->number + 1) * RESULT_PAGE <= table->settled)
        remove_page(table, page);
}

bool veolib_results_reserve(struct result_table *table, uint64_t id)
{
    return find_or_add(table, id / RESULT_PAGE) != NULL;
}

void veolib_results_settle_page(struct result_table *table, uint64_t end)
{
    table->settled = end;
    struct result_page *page = find(table, end / RESULT_PAGE - 1);
    if (page != NULL)
        remove_if_done(table, page);
}

void veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result)
{
    struct result_page *page = find(table, id / RESULT_PAGE);
    page->present |= UINT64_C(1) << id % RESULT_PAGE;
    page->results[id % RESULT_PAGE] = result;
    page->outcomes[id % RESULT_PAGE] = (uint8_t)outcome;
}

bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result)
{
    struct result_page *page = find(table, id / RESULT_PAGE);
    uint64_t bit = UINT64_C(1) << id % RESULT_PAGE;
    if (page == NULL || !(page->present & bit))
        return false;

    *outcome = page->outcomes[id % RESULT_PAGE];
    *result = page->results[id % RESULT_PAGE];
    page->present &= ~bit;
    remove_if_done(table, page);
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
