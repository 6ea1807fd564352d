/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/common/copy.c
 *
 * Copies past the caches, for all alignments; and copies of overlapping ranges, small and large.
 */
#include "common/copy.h"

#include <string.h>

#include "check.h"

enum { SPACE = 1024, LARGE = 1 << 29 };

static void fill(uint8_t *to, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)check_random(&seed);
}

static void every_alignment(uint64_t *seed)
{
    uint8_t from[SPACE], to[SPACE], expected[SPACE];
    fill(from, SPACE, *seed);
    for (size_t a = 0; a < 66; a++) {
        for (size_t b = 0; b < 66; b++) {
            size_t n = (size_t)check_random_below(seed, SPACE - 65);
            n = check_random_below(seed, 4) ? n : n % 66;
            memset(to, 0xA5, SPACE);
            memcpy(expected, to, SPACE);
            memcpy(expected + a, from + b, n);
            copy_past_caches(to + a, from + b, n);
            CHECK(memcmp(to, expected, SPACE) == 0);
        }
    }
}

static void overlapping(size_t n, size_t shift, int forward)
{
    uint8_t *memory = malloc(n + shift), *copy = malloc(n);
    CHECK(memory && copy);
    fill(memory, n + shift, n);
    uint8_t *from = memory + (forward ? 0 : shift), *to = memory + (forward ? shift : 0);
    memcpy(copy, from, n);
    copy_memory(to, from, n);
    CHECK(memcmp(to, copy, n) == 0);
    free(memory);
    free(copy);
}

int main(void)
{
    uint64_t seed = check_seed(1);
    every_alignment(&seed);
    CHECK(!copy_is_large(0) && !copy_is_large(4096));
    size_t large = 1 << 16;
    while (large < LARGE && !copy_is_large(large))
        large *= 2;
    CHECK(large < LARGE);
    CHECK(copy_is_large(large + 1) && !copy_is_large(large / 2 - 1));
    for (int forward = 0; forward < 2; forward++) {
        overlapping(1000, 10, forward);
        overlapping(large + 100, 4096, forward);
        overlapping(large + 100, large + 100, forward);
    }
    puts("ok");
    return 0;
}
