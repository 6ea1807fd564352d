/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_offsets.h: times a copy with both sides at several offsets in a page, each in turns with
 * memcpy() at the same offsets.
 *
 * Prints a line per pair of offsets, "NAME:SIZE:TO:FROM", and one of memcpy() with "+memcpy" after
 * that: a tab and nanoseconds of every round.
 * `copy_offsets.py` reads them.
 */
#ifndef BENCHMARKS_COPY_OFFSETS_H
#define BENCHMARKS_COPY_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096, MOST_ROUNDS = 100, OFFSETS = 5, PAIRS = OFFSETS * OFFSETS };

static const size_t page_offsets[OFFSETS] = {0, 16, 64, 2048, 4080};

/* Bytes that are copied between two looks at the clock, so that it does not hide small copies. */
static const size_t round_bytes = (size_t)1 << 20;

/* A copy to offset TO of the destination, from offset FROM of the source. */
struct offset_case {
    const char *name;
    size_t size;
    /* Of the thread for what it copies alone, which other processes do not disturb. */
    clockid_t clock;
    void *context;
    void (*copy)(const struct offset_case *one, size_t to, size_t from);
    void (*plain)(const struct offset_case *one, size_t to, size_t from);    /* by memcpy() */
    bool (*is_right)(const struct offset_case *one, size_t to, size_t from); /* after a copy */
};

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Touched pages. */
static void *new_pages(size_t bytes, int value)
{
    void *pages = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (pages == NULL)
        fail("out of memory");
    memset(pages, value, bytes);
    return pages;
}

static void fill_random(uint8_t *bytes, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
}

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_copies(void (*copy)(const struct offset_case *one, size_t to, size_t from),
                          const struct offset_case *one, size_t to, size_t from)
{
    size_t count = round_bytes / one->size;
    count = count < 1 ? 1 : count > 2000 ? 2000 : count;
    double start = now_ns(one->clock);
    for (size_t i = 0; i < count; i++)
        copy(one, to, from);
    return (now_ns(one->clock) - start) / (double)count;
}

static void print_rounds(const struct offset_case *one, size_t pair, const char *suffix,
                         const double *ns, size_t rounds)
{
    printf("%s:%zu:%zu:%zu%s\t", one->name, one->size, page_offsets[pair / OFFSETS],
           page_offsets[pair % OFFSETS], suffix);
    for (size_t r = 0; r < rounds; r++)
        printf(" %.1f", ns[r]);
    putchar('\n');
}

/* All pairs in each round, so that a disturbance meets all of them. */
static void measure_offsets(const struct offset_case *one, size_t rounds)
{
    static double ours[PAIRS][MOST_ROUNDS], theirs[PAIRS][MOST_ROUNDS];
    if (rounds < 1 || rounds > MOST_ROUNDS)
        fail("the number of rounds must be from 1 to 100");

    for (size_t pair = 0; pair < PAIRS; pair++) {
        size_t to = page_offsets[pair / OFFSETS], from = page_offsets[pair % OFFSETS];
        one->copy(one, to, from);
        if (!one->is_right(one, to, from))
            fail("the data are not the same");
        one->plain(one, to, from);
    }

    for (size_t r = 0; r < rounds; r++) {
        for (size_t pair = 0; pair < PAIRS; pair++) {
            size_t to = page_offsets[pair / OFFSETS], from = page_offsets[pair % OFFSETS];
            ours[pair][r] = time_copies(one->copy, one, to, from);
            theirs[pair][r] = time_copies(one->plain, one, to, from);
        }
    }

    for (size_t pair = 0; pair < PAIRS; pair++) {
        print_rounds(one, pair, "", ours[pair], rounds);
        print_rounds(one, pair, "+memcpy", theirs[pair], rounds);
    }
    fflush(stdout);
}

#endif
