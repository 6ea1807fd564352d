/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_double_div.c: division, double precision, by the reciprocal of the divisor. */
#include "costs_multiply64.h"
#include "costs_wide_product.h"
#include "double_number.h"

/* The product of a word and a 64-bit number, without its low word. */
INLINE uint64_t scale(uint32_t x, uint64_t by)
{
    return RUNTIME(__muldi3)(x, high_word(by)) + high_word(RUNTIME(__muldi3)(x, low_word(by)));
}

/* 1 / D, never above it; D is from 1 to 2, and both have 63 bits after the point. */
INLINE uint64_t reciprocal(uint64_t d)
{
    uint32_t x = costs_reciprocal(high_word(d));

    /* Once more, with all bits of the divisor. */
    return scale(x, ~scale(x, d));
}

static uint64_t divide(uint64_t sign, int32_t e, uint64_t m, uint64_t n)
{
    uint64_t quotient, rest, low;

    if (m < n) {
        m += m;
        e--;
    }

    /* 55 bits of m / n, a few too small at most, and what is left. */
    quotient = costs_wide_product(m << 3, reciprocal(n << 11), &low);
    rest = (m << 54) - RUNTIME(__muldi3)(quotient, n);
    while (rest >= n) {
        rest -= n;
        quotient++;
    }
    return double_round_any(sign, e, shift_left_short(quotient, 8) | (rest != 0));
}

#include "number_div.inc"
