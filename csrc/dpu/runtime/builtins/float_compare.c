/* SPDX-License-Identifier: BSD-3-Clause */
/* float_compare.c: comparisons and the change of sign, single precision. */
#include "float_parts.h"

int32_t RUNTIME(__cmpsf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__eqsf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__nesf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__ltsf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__lesf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__gtsf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__gesf2)(uint32_t a, uint32_t b);
int32_t RUNTIME(__unordsf2)(uint32_t a, uint32_t b);
uint32_t RUNTIME(__negsf2)(uint32_t a);

/* -1, 0 or 1; UNORDERED if one is a NaN. */
INLINE int32_t compare(uint32_t a, uint32_t b, int32_t unordered)
{
    uint32_t size_a = a << 1, size_b = b << 1;

    if (UNLIKELY(size_a > FLOAT_INFINITY << 1 || size_b > FLOAT_INFINITY << 1))
        return unordered;
    if ((size_a | size_b) == 0 || a == b)
        return 0;
    /* Of two negative numbers the one with the larger bits is the smaller. */
    if ((int32_t)(a & b) < 0)
        return a > b ? -1 : 1;
    return (int32_t)a < (int32_t)b ? -1 : 1;
}

int32_t RUNTIME(__cmpsf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__eqsf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__nesf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__ltsf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__lesf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, 1);
}

int32_t RUNTIME(__gtsf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, -1);
}

int32_t RUNTIME(__gesf2)(uint32_t a, uint32_t b)
{
    return compare(a, b, -1);
}

int32_t RUNTIME(__unordsf2)(uint32_t a, uint32_t b)
{
    return a << 1 > FLOAT_INFINITY << 1 || b << 1 > FLOAT_INFINITY << 1;
}

uint32_t RUNTIME(__negsf2)(uint32_t a)
{
    return a ^ FLOAT_SIGN;
}
