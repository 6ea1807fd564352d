/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_search -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *        -Wl,--wrap=forge_find_choices
 *
 * The search when memory runs out: wherever that happens, there is a status, nothing leaks, and
 * what is said to be complete has the rows that it has otherwise.
 */
#include "accelforge/search/factors.h"
#include "accelforge/search/groups.h"
#include "accelforge/search/results.h"

#include "product_space.h"
#include "tests/support/failing_malloc.h"

static struct product product;

/* Rows that a step keeps, more than there are: templates are not searched a second time. */
enum { ENOUGH = 1000 };

/* Number of the call that finds no memory for choices, counted from now on; 0: none. */
static long failing_call;

bool __real_forge_find_choices(struct forge_arena *arena, uint32_t bound, uint32_t inner,
                               bool ragged, double coarseness, struct forge_choices *choices);
bool __wrap_forge_find_choices(struct forge_arena *arena, uint32_t bound, uint32_t inner,
                               bool ragged, double coarseness, struct forge_choices *choices);

bool __wrap_forge_find_choices(struct forge_arena *arena, uint32_t bound, uint32_t inner,
                               bool ragged, double coarseness, struct forge_choices *choices)
{
    if (failing_call > 0 && --failing_call == 0)
        return false;
    return __real_forge_find_choices(arena, bound, inner, ragged, coarseness, choices);
}

/* Searches with so many allocations, -1: all that it takes; the rows of what is complete. */
static enum forge_status search(long allocations, uint32_t width, bool *complete, uint64_t *rows)
{
    const struct forge_search_request request = {
        .space = &product.space, .threads = 1, .memory_limit = SIZE_MAX, .width = width};
    struct forge_search *search = NULL;
    struct forge_found found = {.complete = false};
    struct forge_fault fault;

    allocations_left = allocations;
    enum forge_status status = forge_search_start(&search, &request, &fault);
    while (status == FORGE_OK && !forge_search_wait(search, 10))
        ;
    allocations_left = -1;

    if (status == FORGE_OK)
        status = forge_search_finish(search, &found, &fault);
    *complete = status == FORGE_OK && found.complete;
    if (*complete) {
        struct forge_groups groups;
        CHECK(forge_groups_make(&groups, &found) == FORGE_OK);
        *rows = groups.rows;
        forge_groups_clear(&groups);
    }
    forge_search_destroy(search);
    return status;
}

static void check_failure(enum forge_status status, bool complete, uint64_t rows, uint64_t all)
{
    CHECK(status == FORGE_OK || status == FORGE_OUT_OF_MEMORY);
    CHECK(!complete || rows == all);
}

int main(void)
{
    product_build(&product, 12, 8 * 100, 1u << TENSOR_Z);
    bool complete = false;
    uint64_t rows = 0, all = 0;
    CHECK(search(-1, 0, &complete, &all) == FORGE_OK && complete && all > 0);

    long failures = 0;
    for (long n = 0; failures == 0 || !complete; n += 1 + n / 20) {
        enum forge_status status = search(n, 0, &complete, &rows);
        check_failure(status, complete, rows, all);
        failures += status == FORGE_OUT_OF_MEMORY;
    }
    CHECK(failures > 20);

    /* Once only: what comes after it finds memory again, and one template is not complete. */
    bool failed = true;
    for (long n = 1; failed; n++) {
        failing_call = n;
        enum forge_status status = search(-1, ENOUGH, &complete, &rows);
        failed = failing_call == 0;
        failing_call = 0;
        check_failure(status, complete, rows, all);
        CHECK(failed != complete);
    }
    return 0;
}
