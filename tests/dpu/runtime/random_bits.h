/* SPDX-License-Identifier: BSD-3-Clause */
/* random_bits.h: reproducible values for the checks against the host's arithmetic. */
#ifndef TESTS_DPU_RUNTIME_RANDOM_BITS_H
#define TESTS_DPU_RUNTIME_RANDOM_BITS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du;
}

/* Every width is as likely as every other, and runs of ones and zeros are common. */
static inline uint64_t random_width(void)
{
    uint64_t bits = random_bits();
    uint32_t choice = (uint32_t)random_bits();

    bits >>= choice & 63;
    if (choice & 64)
        bits = ~bits;
    if (choice & 128)
        bits &= ~(uint64_t)0 << ((choice >> 8) & 63);
    return bits;
}

static inline uint64_t argument_count(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s COUNT SEED\n", argv[0]);
        exit(2);
    }
    random_state ^= strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15u;
    if (random_state == 0)
        random_state = 1;
    return strtoull(argv[1], NULL, 0);
}

#endif
