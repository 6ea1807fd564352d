/* SPDX-License-Identifier: BSD-3-Clause */
/* divide64_unsigned.c: the operators / and % of unsigned 64-bit numbers. */
#include "divide64.h"

uint64_t RUNTIME(__udivdi3)(uint64_t a, uint64_t b);
uint64_t RUNTIME(__umoddi3)(uint64_t a, uint64_t b);

uint64_t RUNTIME(__udivdi3)(uint64_t a, uint64_t b)
{
    uint64_t rest;

    return RUNTIME(__udivmoddi4)(a, b, &rest);
}

uint64_t RUNTIME(__umoddi3)(uint64_t a, uint64_t b)
{
    uint64_t rest;

    RUNTIME(__udivmoddi4)(a, b, &rest);
    return rest;
}
