/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_search
 *
 * Arenas: what is taken is zero, aligned and nobody else's, whatever its size.
 */
#include "accelforge/search/arena.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/check.h"

enum { MOST_TAKEN = 64, ROUNDS = 200 };

static const size_t sizes[] = {0, 1, 15, 16, 17, 1023, 1024, 1025, 16383, 16384, 16385, 100000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static bool is_all(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void test_taken(uint64_t *seed)
{
    struct forge_arena arena = {NULL};
    unsigned char *taken[MOST_TAKEN];
    size_t counts[MOST_TAKEN];
    for (unsigned i = 0; i < MOST_TAKEN; i++) {
        counts[i] = sizes[check_random(seed) % SIZES];
        taken[i] = forge_arena_take(&arena, counts[i], 1);
        CHECK(taken[i] != NULL);
        CHECK((uintptr_t)taken[i] % alignof(max_align_t) == 0);
        CHECK(is_all(taken[i], counts[i], 0));
        memset(taken[i], (int)i + 1, counts[i]);
    }

    for (unsigned i = 0; i < MOST_TAKEN; i++)
        CHECK(is_all(taken[i], counts[i], (unsigned char)(i + 1)));
    forge_arena_clear(&arena);
    CHECK(arena.chunks == NULL);
}

static void test_too_much(void)
{
    struct forge_arena arena = {NULL};
    CHECK(forge_arena_take(&arena, SIZE_MAX, 1) == NULL);
    CHECK(forge_arena_take(&arena, SIZE_MAX / 8, 16) == NULL);
    CHECK(forge_arena_take(&arena, SIZE_MAX / 2, 1) == NULL);
    CHECK(forge_arena_take(&arena, 3, 8) != NULL);
    CHECK(forge_arena_take(&arena, SIZE_MAX / 2, 1) == NULL);
    CHECK(forge_arena_take(&arena, 3, 8) != NULL);
    forge_arena_clear(&arena);
}

int main(void)
{
    uint64_t seed = check_seed(1);
    for (int i = 0; i < ROUNDS; i++)
        test_taken(&seed);
    test_too_much();
    return 0;
}
