/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For C tests: CHECK() that survives NDEBUG and says where, and a small random generator whose
 * seed is printed, so that a failure can be repeated with OFFCHIP_TEST_SEED=<seed>.
 */
#ifndef OFFCHIP_TESTS_CHECK_H
#define OFFCHIP_TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, #condition); \
            abort(); \
        } \
    } while (0)

static inline uint64_t check_seed(uint64_t otherwise)
{
    const char *text = getenv("OFFCHIP_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : otherwise;
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    return seed;
}

/* splitmix64: any seed will do, the state is the seed. */
static inline uint64_t check_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline uint64_t check_random_below(uint64_t *state, uint64_t bound)
{
    return check_random(state) % bound;
}

#endif
