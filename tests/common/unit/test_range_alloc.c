/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/common/range_alloc.c -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * The range allocator against a model that has one cell a unit of 64 bytes, and by cases.
 */
#include "common/range_alloc.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"

#define ALIGN OFFCHIP_RANGE_ALIGN
#define BASE UINT64_C(0x600000000000)

/* --- model --- */

enum { CELLS = 2048, MAX_BLOCKS = CELLS };

enum cell { CELL_CLEAN, CELL_DIRTY, CELL_TAKEN };

struct model {
    enum cell cell[CELLS];
    struct {
        uint64_t addr, size;
    } blocks[MAX_BLOCKS];
    size_t nblocks;
    uint64_t high_water;
};

/* Longest run of cells that are free, or in state ONLY; *START is where the first such begins. */
static size_t longest_run(const struct model *m, bool any_free, enum cell only, size_t *start)
{
    size_t best = 0, run = 0;
    *start = 0;
    for (size_t i = 0; i < CELLS; i++) {
        bool in = any_free ? m->cell[i] != CELL_TAKEN : m->cell[i] == only;
        run = in ? run + 1 : 0;
        if (run > best) {
            best = run;
            *start = i + 1 - run;
        }
    }
    return best;
}

static void compare(const struct range_alloc *ra, const struct model *m)
{
    uint64_t used = 0, dirty = 0;
    for (size_t i = 0; i < CELLS; i++) {
        used += m->cell[i] == CELL_TAKEN ? ALIGN : 0;
        dirty += m->cell[i] == CELL_DIRTY ? ALIGN : 0;
    }
    CHECK(range_alloc_used(ra) == used);
    CHECK(range_alloc_dirty(ra) == dirty);
    CHECK(range_alloc_high_water(ra) == m->high_water);
    size_t start;
    size_t longest = longest_run(m, false, CELL_DIRTY, &start);
    uint64_t addr, size;
    CHECK(range_alloc_largest_dirty(ra, &addr, &size) == (longest > 0));
    CHECK(size == longest * ALIGN);
    if (longest > 0) {
        size_t first = (size_t)((addr - BASE) / ALIGN);
        for (size_t i = 0; i < longest; i++)
            CHECK(m->cell[first + i] == CELL_DIRTY);
    }
}

static void model_get(struct range_alloc *ra, struct model *m, uint64_t request, bool may_fail)
{
    size_t cells = (size_t)((request + ALIGN - 1) / ALIGN);
    cells = cells > 0 ? cells : 1;
    size_t start;
    bool fits = longest_run(m, true, CELL_CLEAN, &start) >= cells;
    bool fits_dirty = longest_run(m, false, CELL_DIRTY, &start) >= cells;
    bool fits_clean = longest_run(m, false, CELL_CLEAN, &start) >= cells;
    uint64_t addr = range_alloc_get(ra, request);
    if (addr == 0) {
        CHECK(!fits || may_fail);
        return;
    }
    CHECK(fits);
    CHECK(addr % ALIGN == 0 && addr >= BASE && addr - BASE <= (CELLS - cells) * ALIGN);
    size_t first = (size_t)((addr - BASE) / ALIGN);
    for (size_t i = first; i < first + cells; i++) {
        CHECK(m->cell[i] != CELL_TAKEN);
        if (fits_dirty)
            CHECK(m->cell[i] == CELL_DIRTY);
        else if (fits_clean)
            CHECK(m->cell[i] == CELL_CLEAN);
        m->cell[i] = CELL_TAKEN;
    }
    CHECK(range_alloc_length(ra, addr) == cells * ALIGN);
    CHECK(cells == 1 || range_alloc_length(ra, addr + ALIGN) == 0);
    m->blocks[m->nblocks].addr = addr;
    m->blocks[m->nblocks++].size = cells * ALIGN;
    if (m->high_water < addr + cells * ALIGN)
        m->high_water = addr + cells * ALIGN;
}

static void model_put(struct range_alloc *ra, struct model *m, size_t which)
{
    uint64_t addr = m->blocks[which].addr, size = m->blocks[which].size, got;
    m->blocks[which] = m->blocks[--m->nblocks];
    CHECK(!range_alloc_put(ra, addr + 1, &got) && got == 0);
    CHECK(range_alloc_put(ra, addr, &got) && got == size);
    CHECK(!range_alloc_put(ra, addr, NULL));
    CHECK(range_alloc_length(ra, addr) == 0);
    for (size_t i = (size_t)((addr - BASE) / ALIGN); size > 0; i++, size -= ALIGN)
        m->cell[i] = CELL_DIRTY;
}

static void model_clean(struct range_alloc *ra, struct model *m)
{
    uint64_t addr, size;
    if (!range_alloc_largest_dirty(ra, &addr, &size))
        return;
    range_alloc_mark_clean(ra, addr);
    for (size_t i = (size_t)((addr - BASE) / ALIGN); size > 0; i++, size -= ALIGN)
        m->cell[i] = CELL_CLEAN;
}

/* Phases lean towards filling or emptying, with sizes of several scales, so that the range gets
 * full, fragmented and empty in turn. */
static void random_operations(uint64_t *random, long operations, bool failing)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.high_water = BASE;
    struct range_alloc *ra = range_alloc_new(BASE, (uint64_t)CELLS * ALIGN);
    CHECK(ra != NULL);
    uint64_t fill = 50;
    for (long i = 0; i < operations; i++) {
        if (i % 256 == 0)
            fill = 30 + check_random_below(random, 45);
        if (failing)
            allocations_left = (long)check_random_below(random, 2);
        uint64_t dice = check_random_below(random, 100);
        if (dice < 3) {
            model_clean(ra, &m);
        } else if (dice < fill) {
            uint64_t scale = (uint64_t)ALIGN << check_random_below(random, 11);
            model_get(ra, &m, check_random_below(random, scale), failing);
        } else if (m.nblocks > 0) {
            model_put(ra, &m, (size_t)check_random_below(random, m.nblocks));
        }
        compare(ra, &m);
    }
    allocations_left = -1;
    while (m.nblocks > 0)
        model_put(ra, &m, (size_t)check_random_below(random, m.nblocks));
    compare(ra, &m);
    CHECK(range_alloc_used(ra) == 0);
    CHECK(range_alloc_get(ra, (uint64_t)CELLS * ALIGN) == BASE);
    range_alloc_delete(ra);
}

/* --- cases --- */

static void bad_ranges_are_refused(void)
{
    CHECK(range_alloc_new(0, 4096) == NULL);
    CHECK(range_alloc_new(BASE + 1, 4096) == NULL);
    CHECK(range_alloc_new(BASE, 4097) == NULL);
    CHECK(range_alloc_new(UINT64_MAX - 63, 128) == NULL);
    range_alloc_delete(NULL);
    struct range_alloc *ra = range_alloc_new(BASE, 0);
    CHECK(ra != NULL);
    CHECK(range_alloc_get(ra, 0) == 0 && range_alloc_get(ra, 1) == 0);
    range_alloc_delete(ra);
}

static void sizes_round_up(void)
{
    static const uint64_t sizes[][2] = {{0, 64},   {1, 64},      {63, 64},     {64, 64},
                                        {65, 128}, {4095, 4096}, {4096, 4096}, {4097, 4160}};
    struct range_alloc *ra = range_alloc_new(BASE, 1 << 20);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t addr = range_alloc_get(ra, sizes[i][0]);
        CHECK(addr != 0 && addr % ALIGN == 0);
        CHECK(range_alloc_length(ra, addr) == sizes[i][1]);
    }
    range_alloc_delete(ra);
}

static void huge_sizes_fail_and_huge_ranges_work(void)
{
    uint64_t all = UINT64_MAX - 127; /* [64, 2^64 - 64) */
    struct range_alloc *ra = range_alloc_new(64, all);
    CHECK(ra != NULL);
    for (uint64_t below = 0; below < 127; below++)
        CHECK(range_alloc_get(ra, UINT64_MAX - below) == 0);
    CHECK(range_alloc_get(ra, all) == 64);
    CHECK(range_alloc_used(ra) == all && range_alloc_high_water(ra) == 64 + all);
    CHECK(range_alloc_get(ra, 1) == 0);
    CHECK(range_alloc_put(ra, 64, NULL));
    CHECK(range_alloc_dirty(ra) == all);
    CHECK(range_alloc_get(ra, UINT64_C(1) << 63) == 64);
    range_alloc_delete(ra);
}

static void foreign_addresses_are_refused(void)
{
    struct range_alloc *ra = range_alloc_new(BASE, 1 << 16);
    uint64_t addr = range_alloc_get(ra, 256), got = 7;
    static const uint64_t foreign[] = {0, 1, 64, BASE - 64, BASE + (1 << 16), UINT64_MAX};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        CHECK(!range_alloc_put(ra, foreign[i], &got) && got == 0);
        CHECK(range_alloc_length(ra, foreign[i]) == 0);
    }
    CHECK(!range_alloc_put(ra, addr + 64, NULL)); /* inside */
    range_alloc_mark_clean(ra, addr);             /* allocated: nothing to clean */
    CHECK(range_alloc_used(ra) == 256 && range_alloc_dirty(ra) == 0);
    CHECK(range_alloc_put(ra, addr, NULL) && !range_alloc_put(ra, addr, NULL));
    range_alloc_delete(ra);
}

/* A request of the size of a free block gets it, also when others of its class are shorter. */
static void a_block_that_fits_is_always_found(void)
{
    enum { HOLES = 40 };
    uint64_t hole[HOLES], addr;
    struct range_alloc *ra = range_alloc_new(BASE, 1 << 24);
    for (size_t i = 0; i < HOLES; i++) {
        hole[i] = range_alloc_get(ra, (1024 + (i == 0 ? 5 : 0)) * ALIGN);
        CHECK(range_alloc_get(ra, 1) != 0); /* keeps the holes apart */
    }
    while (range_alloc_get(ra, 1 << 16) != 0)
        continue;
    while (range_alloc_get(ra, 64) != 0)
        continue;
    for (size_t i = 0; i < HOLES; i++)
        CHECK(range_alloc_put(ra, hole[i], NULL));
    addr = range_alloc_get(ra, 1029 * ALIGN);
    CHECK(addr == hole[0]);
    CHECK(range_alloc_get(ra, 1025 * ALIGN) == 0);
    range_alloc_delete(ra);
}

static void neighbours_merge_in_any_order(void)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct range_alloc *ra = range_alloc_new(BASE, 4 * 4096);
        uint64_t block[3], addr, size;
        for (size_t k = 0; k < 3; k++)
            block[k] = range_alloc_get(ra, 4096);
        CHECK(range_alloc_get(ra, 4096) != 0 && range_alloc_get(ra, 1) == 0);
        for (size_t k = 0; k < 3; k++)
            CHECK(range_alloc_put(ra, block[orders[i][k]], NULL));
        CHECK(range_alloc_largest_dirty(ra, &addr, &size));
        CHECK(addr == BASE && size == 3 * 4096);
        CHECK(range_alloc_get(ra, 3 * 4096) == BASE);
        range_alloc_delete(ra);
    }
}

static void used_pages_are_given_out_again_first(void)
{
    struct range_alloc *ra = range_alloc_new(BASE, 1 << 20);
    uint64_t a = range_alloc_get(ra, 8192), size;
    CHECK(range_alloc_get(ra, 64) != 0);
    uint64_t mark = range_alloc_high_water(ra);
    CHECK(range_alloc_put(ra, a, NULL));
    for (int i = 0; i < 2; i++)
        CHECK(range_alloc_get(ra, 4096) != 0);
    CHECK(range_alloc_high_water(ra) == mark && range_alloc_dirty(ra) == 0);
    CHECK(range_alloc_get(ra, 4096) != 0);
    CHECK(range_alloc_high_water(ra) == mark + 4096);
    CHECK(range_alloc_put(ra, a, &size) && size == 4096 && range_alloc_dirty(ra) == 4096);
    range_alloc_mark_clean(ra, a);
    CHECK(range_alloc_dirty(ra) == 0 && !range_alloc_largest_dirty(ra, &a, &size));
    range_alloc_delete(ra);
}

static void used_and_unused_neighbours_serve_together(void)
{
    struct range_alloc *ra = range_alloc_new(BASE, 3 * 4096);
    uint64_t a = range_alloc_get(ra, 2 * 4096);
    CHECK(range_alloc_put(ra, a, NULL));
    CHECK(range_alloc_get(ra, 3 * 4096 - 64) == BASE);
    CHECK(range_alloc_dirty(ra) == 0);
    CHECK(range_alloc_get(ra, 64) == BASE + 3 * 4096 - 64);
    range_alloc_delete(ra);
}

static void many_blocks(uint64_t *random)
{
    enum { BLOCKS = 5000 };
    static uint64_t addr[BLOCKS];
    struct range_alloc *ra = range_alloc_new(BASE, (uint64_t)BLOCKS * ALIGN);
    largest_calloc = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        CHECK((addr[i] = range_alloc_get(ra, ALIGN)) != 0);
    CHECK(range_alloc_get(ra, 1) == 0);
    /* The table grows with them, or each search would take as many steps as there are blocks. */
    CHECK(largest_calloc >= BLOCKS * sizeof(void *) / 2);
    for (size_t i = BLOCKS; i > 0; i--) {
        size_t k = (size_t)check_random_below(random, i);
        CHECK(range_alloc_put(ra, addr[k], NULL));
        addr[k] = addr[i - 1];
    }
    CHECK(range_alloc_get(ra, (uint64_t)BLOCKS * ALIGN) == BASE);
    range_alloc_delete(ra);
}

static void creation_without_memory_is_null(void)
{
    struct range_alloc *ra = NULL;
    for (long limit = 0; ra == NULL; limit++) {
        CHECK(limit < 10);
        allocations_left = limit;
        ra = range_alloc_new(BASE, 4096);
        CHECK(ra == NULL || limit > 0);
    }
    allocations_left = -1;
    range_alloc_delete(ra);
}

/* Without memory for records a request fails, nothing else does, and later ones succeed. */
static void requests_without_memory_fail_cleanly(void)
{
    struct range_alloc *ra = range_alloc_new(BASE, 1 << 20);
    allocations_left = 0;
    uint64_t first = 0, addr, n = 0;
    while ((addr = range_alloc_get(ra, 64)) != 0) {
        first = n == 0 ? addr : first;
        n++;
    }
    CHECK(n > 0 && n < (1 << 20) / 64);
    CHECK(range_alloc_used(ra) == n * 64);
    CHECK(range_alloc_put(ra, first, NULL));
    CHECK(range_alloc_used(ra) == (n - 1) * 64);
    allocations_left = -1;
    while (range_alloc_get(ra, 64) != 0)
        n++;
    CHECK(range_alloc_used(ra) == 1 << 20);
    range_alloc_delete(ra);
}

int main(void)
{
    uint64_t random = check_seed(20240611);
    bad_ranges_are_refused();
    sizes_round_up();
    huge_sizes_fail_and_huge_ranges_work();
    foreign_addresses_are_refused();
    a_block_that_fits_is_always_found();
    neighbours_merge_in_any_order();
    used_pages_are_given_out_again_first();
    used_and_unused_neighbours_serve_together();
    many_blocks(&random);
    creation_without_memory_is_null();
    requests_without_memory_fail_cleanly();
    random_operations(&random, 20000, false);
    random_operations(&random, 10000, true);
    puts("ok");
    return 0;
}
