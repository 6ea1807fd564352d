/* SPDX-License-Identifier: BSD-3-Clause */
/* double_div.c: division, double precision. */
#include "double_parts.h"

uint64_t RUNTIME(__divdf3)(uint64_t a, uint64_t b);

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

static uint64_t divide_special(uint64_t a, uint64_t b, uint64_t sign)
{
    uint64_t size_a = a << 1, size_b = b << 1, m, n;
    int32_t ea, eb;

    if (size_a > DOUBLE_INFINITY << 1)
        return a | DOUBLE_QUIET;
    if (size_b > DOUBLE_INFINITY << 1)
        return b | DOUBLE_QUIET;
    if (size_a == DOUBLE_INFINITY << 1)
        return size_b == DOUBLE_INFINITY << 1 ? DOUBLE_NAN : sign | DOUBLE_INFINITY;
    if (size_b == DOUBLE_INFINITY << 1)
        return sign;
    if (size_b == 0)
        return size_a == 0 ? DOUBLE_NAN : sign | DOUBLE_INFINITY;
    if (size_a == 0)
        return sign;
    m = double_normalise(a, &ea);
    n = double_normalise(b, &eb);
    return divide(sign, ea - eb + 1023, m, n);
}

uint64_t RUNTIME(__divdf3)(uint64_t a, uint64_t b)
{
    uint64_t sign = (a ^ b) & DOUBLE_SIGN;
    uint32_t ea = double_exponent(a), eb = double_exponent(b);

    if (UNLIKELY(ea - 1 >= 2046 || eb - 1 >= 2046))
        return divide_special(a, b, sign);
    return divide(sign, (int32_t)(ea - eb) + 1023, (a & DOUBLE_FRACTION) | DOUBLE_IMPLICIT,
                  (b & DOUBLE_FRACTION) | DOUBLE_IMPLICIT);
}
