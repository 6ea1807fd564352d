/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_float_div.c: division, single precision, by the reciprocal of the divisor. */
#include "costs_multiply64.h"
#include "float_number.h"

static uint32_t divide(uint32_t sign, int32_t e, uint32_t m, uint32_t n)
{
    uint32_t quotient, rest;

    if (m < n) {
        m <<= 1;
        e--;
    }

    /* 26 bits of m / n, at most one too small, and what is left. */
    quotient = (uint32_t)(RUNTIME(__muldi3)(m, costs_reciprocal(n << 8)) >> 30);
    rest = (m << 25) - quotient * n;
    while (rest >= n) {
        rest -= n;
        quotient++;
    }
    return float_round_any(sign, e, quotient << 5 | (rest != 0));
}

#include "number_div.inc"
