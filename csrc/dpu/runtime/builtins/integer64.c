/* SPDX-License-Identifier: BSD-3-Clause */
/* integer64.c: shifts and comparisons of 64-bit numbers. */
#include "arithmetic.h"

uint64_t RUNTIME(__ashldi3)(uint64_t a, int32_t n);
uint64_t RUNTIME(__lshrdi3)(uint64_t a, int32_t n);
int64_t RUNTIME(__ashrdi3)(int64_t a, int32_t n);
uint64_t RUNTIME(__negdi2)(uint64_t a);
int32_t RUNTIME(__cmpdi2)(int64_t a, int64_t b);
int32_t RUNTIME(__ucmpdi2)(uint64_t a, uint64_t b);

uint64_t RUNTIME(__ashldi3)(uint64_t a, int32_t n)
{
    if (n & 32)
        return join_words(low_word(a) << (n & 31), 0);
    if (n == 0)
        return a;
    return join_words(high_word(a) << n | low_word(a) >> (32 - n), low_word(a) << n);
}

uint64_t RUNTIME(__lshrdi3)(uint64_t a, int32_t n)
{
    if (n & 32)
        return high_word(a) >> (n & 31);
    if (n == 0)
        return a;
    return join_words(high_word(a) >> n, low_word(a) >> n | lost_bits(high_word(a), (uint32_t)n));
}

int64_t RUNTIME(__ashrdi3)(int64_t a, int32_t n)
{
    int32_t high = (int32_t)high_word((uint64_t)a);
    uint32_t low = low_word((uint64_t)a);

    if (n & 32)
        return high >> (n & 31);
    if (n == 0)
        return a;
    return (int64_t)join_words((uint32_t)(high >> n),
                               low >> n | lost_bits((uint32_t)high, (uint32_t)n));
}

uint64_t RUNTIME(__negdi2)(uint64_t a)
{
    return 0u - a;
}

int32_t RUNTIME(__cmpdi2)(int64_t a, int64_t b)
{
    return a < b ? 0 : a == b ? 1 : 2;
}

int32_t RUNTIME(__ucmpdi2)(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a == b ? 1 : 2;
}
