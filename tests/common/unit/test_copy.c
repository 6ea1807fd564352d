/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/common/copy.c
 *
 * Copies of all sizes and alignments by each routine, between guard pages, of overlapping ranges,
 * and past the caches.
 */
#include "common/copy.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/support/check.h"

typedef void copy_function(void *to, const void *from, size_t bytes);

enum { SPACE = 32 << 10, MARGIN = 64, MARK = 0xA5, LARGE = 1 << 29 };

/* From here on routines ask for lines of the destination ahead of the copy. */
enum { AHEAD_LEAST = 24 << 10 };

static const size_t offsets[] = {0, 1, 16, 31, 63};
enum { OFFSETS = sizeof offsets / sizeof *offsets };

static uint8_t source[SPACE + 2 * MARGIN], target[SPACE + 3 * MARGIN];

static void fill(uint8_t *to, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)check_random(&seed);
}

/* Other bytes in each page: quick for many of them. */
static void fill_pages(uint8_t *to, size_t n)
{
    for (size_t page = 0; page < n; page += 4096)
        memset(to + page, (int)(page / 4096 % 251), n - page < 4096 ? n - page : 4096);
}

static bool is_marked(const uint8_t *bytes)
{
    for (size_t i = 0; i < MARGIN; i++)
        if (bytes[i] != MARK)
            return false;
    return true;
}

/* One copy between marks, which must still be there. */
static void copy_once(copy_function *copy, size_t to, size_t from, size_t n)
{
    uint8_t *at = target + MARGIN + to;
    memset(at - MARGIN, MARK, n + 2 * (size_t)MARGIN);

    copy(at, source + from, n);

    CHECK(memcmp(at, source + from, n) == 0);
    CHECK(is_marked(at - MARGIN) && is_marked(at + n));
}

static void every_offset(copy_function *copy, size_t n)
{
    for (size_t i = 0; i < OFFSETS; i++)
        for (size_t j = 0; j < OFFSETS; j++)
            copy_once(copy, offsets[i], offsets[j], n);
}

static void every_size(copy_function *copy, size_t least)
{
    for (size_t n = least; n < COPY_VECTORS_LEAST + 1024; n++)
        every_offset(copy, n);
    for (size_t n = AHEAD_LEAST - 70; n < AHEAD_LEAST + 1100; n += 67)
        every_offset(copy, n);
}

static void every_alignment(copy_function *copy, uint64_t *seed, size_t least, size_t most)
{
    for (size_t to = 0; to <= MARGIN; to++)
        for (size_t from = 0; from <= MARGIN; from++)
            copy_once(copy, to, from, least + (size_t)check_random_below(seed, most - least));
}

/* --- nothing beyond the ranges --- */

/* Whole pages of BYTES bytes between two that cannot be accessed. */
static uint8_t *guarded_new(size_t bytes)
{
    uint8_t *pages =
        mmap(NULL, bytes + 2 * (size_t)4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + 4096, bytes, PROT_READ | PROT_WRITE) == 0);
    return pages + 4096;
}

static void guarded_free(uint8_t *pages, size_t bytes)
{
    CHECK(munmap(pages - 4096, bytes + 2 * (size_t)4096) == 0);
}

static void between_guard_pages(copy_function *copy, size_t least)
{
    enum { BYTES = SPACE };
    uint8_t *from = guarded_new(BYTES), *to = guarded_new(BYTES);
    fill(from, BYTES, 3);

    for (size_t n = least; n <= BYTES; n += n < 1400 ? 1 : 509) {
        copy(to, from, n);
        CHECK(memcmp(to, from, n) == 0);
        copy(to + BYTES - n, from + BYTES - n, n);
        CHECK(memcmp(to + BYTES - n, from + BYTES - n, n) == 0);
        copy(to, from + BYTES - n, n);
        CHECK(memcmp(to, from + BYTES - n, n) == 0);
        copy(to + BYTES - n, from, n);
        CHECK(memcmp(to + BYTES - n, from, n) == 0);
    }

    guarded_free(from, BYTES);
    guarded_free(to, BYTES);
}

/* --- overlapping ranges --- */

static void overlap_once(copy_function *copy, size_t n, size_t shift, bool source_first)
{
    uint8_t *memory = malloc(n + shift + 2 * (size_t)MARGIN), *expected = malloc(n);
    CHECK(memory && expected);
    if (n <= SPACE)
        fill(memory, n + shift + 2 * (size_t)MARGIN, n + shift);
    else
        fill_pages(memory, n + shift + 2 * (size_t)MARGIN);
    memset(memory, MARK, MARGIN);
    memset(memory + MARGIN + n + shift, MARK, MARGIN);
    uint8_t *low = memory + MARGIN, *high = low + shift;
    uint8_t *from = source_first ? low : high, *to = source_first ? high : low;
    memcpy(expected, from, n);

    copy(to, from, n);

    CHECK(memcmp(to, expected, n) == 0);
    CHECK(is_marked(memory) && is_marked(low + n + shift));
    free(memory);
    free(expected);
}

static void overlapping(copy_function *copy, size_t n)
{
    static const size_t shifts[] = {0, 1, 15, 16, 17, 32, 63, 64, 65, 255, 256, 257, 511, 600};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        overlap_once(copy, n, shifts[i], false);
        overlap_once(copy, n, shifts[i], true);
    }
    overlap_once(copy, n, n - 1, false);
    overlap_once(copy, n, n - 1, true);
}

/* --- which way is taken --- */

static size_t first_large(void)
{
    size_t large = 1 << 16;
    CHECK(!copy_is_large(0) && !copy_is_large(4096));
    while (large < LARGE && !copy_is_large(large))
        large *= 2;
    CHECK(large < LARGE);
    CHECK(copy_is_large(large + 1) && !copy_is_large(large / 2 - 1));
    return large;
}

/* Both ways are timed three times, in turns; then the one with the shortest time is used. */
static void the_quicker_way_is_used(bool past_is_quicker)
{
    struct copy_trials trials = {0};
    bool is_trial;
    for (int i = 0; i < 6; i++) {
        bool past = copy_trials_choose(&trials, &is_trial);
        CHECK(is_trial && past == (i % 2 == 1));
        /* Once, something else had the processor. */
        int64_t ns = past == past_is_quicker ? (i < 2 ? 90000 : 1000) : 2000;
        copy_trials_add(&trials, past, 1 << 20, ns);
    }
    for (int i = 0; i < 3; i++)
        CHECK(copy_trials_choose(&trials, &is_trial) == past_is_quicker && !is_trial);
}

/* Times of copies of different sizes are compared by byte. */
static void times_count_by_byte(void)
{
    struct copy_trials trials = {0};
    bool is_trial;
    for (int i = 0; i < 6; i++) {
        bool past = copy_trials_choose(&trials, &is_trial);
        copy_trials_add(&trials, past, past ? 64 << 20 : 16 << 20, past ? 2000000 : 1000000);
    }
    CHECK(copy_trials_choose(&trials, &is_trial) && !is_trial);
}

static void every_routine(uint64_t *seed)
{
    const struct copy_routine *routine;
    size_t tested = 0;
    for (size_t i = 0; (routine = copy_routine(i)) != NULL; i++) {
        if (!routine->is_supported()) {
            printf("%s: not supported here\n", routine->name);
            continue;
        }
        every_size(routine->copy, COPY_VECTORS_LEAST);
        every_alignment(routine->copy, seed, COPY_VECTORS_LEAST, 5000);
        between_guard_pages(routine->copy, COPY_VECTORS_LEAST);
        for (size_t n = COPY_VECTORS_LEAST; n < 1400; n += 61)
            overlapping(routine->copy, n);
        overlapping(routine->copy, AHEAD_LEAST + 777);
        tested++;
    }
    CHECK(tested > 0);
}

int main(void)
{
    uint64_t seed = check_seed(1);
    fill(source, sizeof source, seed);

    every_routine(&seed);

    every_size(copy_memory, 0);
    between_guard_pages(copy_memory, 0);
    for (size_t n = 1; n < 2000; n += 97)
        overlapping(copy_memory, n);

    every_alignment(copy_past_caches, &seed, 0, MARGIN);
    every_alignment(copy_past_caches, &seed, 0, SPACE);
    between_guard_pages(copy_past_caches, 0);

    the_quicker_way_is_used(true);
    the_quicker_way_is_used(false);
    times_count_by_byte();

    /* During the trials and afterwards. */
    size_t large = first_large();
    for (int i = 0; i < 8; i++) {
        bool source_first = i % 2;
        overlap_once(copy_memory, large + 100, 4096, source_first);
        overlap_once(copy_memory, large + 100, large + 100, source_first);
    }
    puts("ok");
    return 0;
}
