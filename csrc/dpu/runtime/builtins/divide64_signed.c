/* SPDX-License-Identifier: BSD-3-Clause */
/* divide64_signed.c: the operators / and % of signed 64-bit numbers, which round to 0. */
#include "divide64.h"

int64_t RUNTIME(__divdi3)(int64_t a, int64_t b);
int64_t RUNTIME(__moddi3)(int64_t a, int64_t b);
int64_t RUNTIME(__divmoddi4)(int64_t a, int64_t b, int64_t *rest);

INLINE uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0u - (uint64_t)a : (uint64_t)a;
}

/* The largest negative number divided by -1 gives itself. */
int64_t RUNTIME(__divmoddi4)(int64_t a, int64_t b, int64_t *rest)
{
    uint64_t remainder;
    uint64_t quotient = RUNTIME(__udivmoddi4)(magnitude(a), magnitude(b), &remainder);

    *rest = (int64_t)(a < 0 ? 0u - remainder : remainder);
    return (int64_t)((a ^ b) < 0 ? 0u - quotient : quotient);
}

int64_t RUNTIME(__divdi3)(int64_t a, int64_t b)
{
    int64_t rest;

    return RUNTIME(__divmoddi4)(a, b, &rest);
}

int64_t RUNTIME(__moddi3)(int64_t a, int64_t b)
{
    int64_t rest;

    RUNTIME(__divmoddi4)(a, b, &rest);
    return rest;
}
