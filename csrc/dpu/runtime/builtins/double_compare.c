/* SPDX-License-Identifier: BSD-3-Clause */
/* double_compare.c: comparisons and the change of sign, double precision. */
#include "double_parts.h"

int32_t RUNTIME(__cmpdf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__eqdf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__nedf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__ltdf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__ledf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__gtdf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__gedf2)(uint64_t a, uint64_t b);
int32_t RUNTIME(__unorddf2)(uint64_t a, uint64_t b);
uint64_t RUNTIME(__negdf2)(uint64_t a);

/* -1, 0 or 1; UNORDERED if one is a NaN. */
INLINE int32_t compare(uint64_t a, uint64_t b, int32_t unordered)
{
    uint64_t size_a = a << 1, size_b = b << 1;

    if (UNLIKELY(size_a > DOUBLE_INFINITY << 1 || size_b > DOUBLE_INFINITY << 1))
        return unordered;
    if ((size_a | size_b) == 0 || a == b)
        return 0;
    /* Of two negative numbers the one with the larger bits is the smaller. */
    if ((int32_t)high_word(a & b) < 0)
        return a > b ? -1 : 1;
    return (int64_t)a < (int64_t)b ? -1 : 1;
}

int32_t RUNTIME(__cmpdf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__eqdf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__nedf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__ltdf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__ledf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__gtdf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, -1);
}

int32_t RUNTIME(__gedf2)(uint64_t a, uint64_t b)
{
    return compare(a, b, -1);
}

int32_t RUNTIME(__unorddf2)(uint64_t a, uint64_t b)
{
    return a << 1 > DOUBLE_INFINITY << 1 || b << 1 > DOUBLE_INFINITY << 1;
}

uint64_t RUNTIME(__negdf2)(uint64_t a)
{
    return a ^ DOUBLE_SIGN;
}
