/* SPDX-License-Identifier: BSD-3-Clause */
/* double_add.c: addition and subtraction, double precision. */
#include "double_number.h"

#include "number_add.inc"

uint64_t RUNTIME(__adddf3)(uint64_t a, uint64_t b)
{
    uint64_t m, n, sign;
    uint32_t distance, ea, eb;
    int32_t e;

    /* a becomes the larger one. */
    if ((a & ~DOUBLE_SIGN) < (b & ~DOUBLE_SIGN)) {
        uint64_t swap = a;
        a = b;
        b = swap;
    }
    ea = double_exponent(a);
    eb = double_exponent(b);
    if (UNLIKELY(ea == 2047))
        return add_special(a, b);
    m = (a & DOUBLE_FRACTION) | DOUBLE_IMPLICIT;
    n = (b & DOUBLE_FRACTION) | DOUBLE_IMPLICIT;
    if (UNLIKELY(eb == 0)) {
        if (b << 1 == 0)
            return a << 1 == 0 ? a & b : a;
        n -= DOUBLE_IMPLICIT;
        eb = 1;
        if (ea == 0) {
            m -= DOUBLE_IMPLICIT;
            ea = 1;
        }
    }
    e = (int32_t)ea;
    sign = a & DOUBLE_SIGN;
    m = shift_left_short(m, 10);
    n = shift_left_short(n, 10);
    distance = ea - eb;
    if (distance != 0)
        n = shift_right_sticky(n, distance);

    if ((int32_t)(high_word(a) ^ high_word(b)) >= 0) {
        m += n;
        if ((int32_t)high_word(m) < 0) {
            m = join_words(high_word(m) >> 1,
                           high_word(m) << 31 | low_word(m) >> 1 | (low_word(m) & 1));
            e++;
            if (UNLIKELY(e == 2047))
                return sign | DOUBLE_INFINITY;
        }
        return double_round(sign, e, m);
    }
    m -= n;
    /* Numbers that are far apart leave the leading bit where it is. */
    if ((int32_t)(high_word(m) << 1) >= 0) {
        if (m == 0)
            return 0;
        distance = (uint32_t)leading_zeros(m) - 1;
        if (UNLIKELY((int32_t)distance >= e))
            distance = (uint32_t)e - 1;
        m = shift_left(m, distance);
        e -= (int32_t)distance;
    }
    return double_round(sign, e, m);
}
