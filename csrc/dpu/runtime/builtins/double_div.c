/* SPDX-License-Identifier: BSD-3-Clause */
/* double_div.c: division, double precision. */
#include "double_number.h"

/* COUNT more bits of the quotient M / N, where M < N; *REST becomes what is left of M. */
INLINE uint32_t divide_bits(uint64_t m, uint64_t n, uint32_t count, uint64_t *rest)
{
    uint32_t quotient = 0;

    do {
        m += m;
        quotient += quotient;
        if (m >= n) {
            m -= n;
            quotient |= 1;
        }
    } while (--count != 0);
    *rest = m;
    return quotient;
}

static uint64_t divide(uint64_t sign, int32_t e, uint64_t m, uint64_t n)
{
    uint32_t high, low;

    if (m < n) {
        m += m;
        e--;
    }
    /* The first bit is 1; 22 and 32 others make 55 with the bit to round by. */
    m -= n;
    high = 1u << 22 | divide_bits(m, n, 22, &m);
    low = divide_bits(m, n, 32, &m);
    return double_round_any(sign, e, shift_left_short(join_words(high, low), 8) | (m != 0));
}

#include "number_div.inc"
