/* SPDX-License-Identifier: BSD-3-Clause */
/* stdlib_random.c: pseudo-random numbers, one sequence for all tasklets. */
#include <stdint.h>
#include <stdlib.h>

static uint32_t state = 1;

void srand(unsigned int seed)
{
    state = seed != 0 ? seed : 1;
}

int rand(void)
{
    /* Shifts and exclusive ors: there is no fast multiplication. */
    uint32_t x = state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    state = x;
    return (int)(x & RAND_MAX);
}
