/* SPDX-License-Identifier: BSD-3-Clause */
/* float_add.c: addition and subtraction, single precision. */
#include "float_number.h"

#include "number_add.inc"

uint32_t RUNTIME(__addsf3)(uint32_t a, uint32_t b)
{
    uint32_t m, n, sign, distance, difference, ea, eb;
    int32_t e;

    /* a becomes the larger one. */
    if (a << 1 < b << 1) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    ea = float_exponent(a);
    eb = float_exponent(b);
    if (UNLIKELY(ea == 255)) {
        /* The order matters only for which NaN is returned, which the standard leaves open. */
        return add_special(a, b);
    }
    m = (a & FLOAT_FRACTION) | FLOAT_IMPLICIT;
    n = (b & FLOAT_FRACTION) | FLOAT_IMPLICIT;
    if (UNLIKELY(eb == 0)) {
        if (b << 1 == 0)
            return a << 1 == 0 ? a & b : a;
        n -= FLOAT_IMPLICIT;
        eb = 1;
        if (ea == 0) {
            m -= FLOAT_IMPLICIT;
            ea = 1;
        }
    }
    e = (int32_t)ea;
    sign = a & FLOAT_SIGN;
    m <<= 7;
    n <<= 7;
    distance = ea - eb;
    if (distance != 0)
        n = distance < 32 ? n >> distance | (lost_bits(n, distance) != 0) : 1;

    if ((int32_t)(a ^ b) >= 0) {
        m += n;
        if ((int32_t)m < 0) {
            m = m >> 1 | (m & 1);
            e++;
            if (UNLIKELY(e == 255))
                return sign | FLOAT_INFINITY;
        }
        return float_round(sign, e, m);
    }
    difference = m - n;
    if (difference == 0)
        return 0;
    distance = (uint32_t)__builtin_clz(difference) - 1;
    if (UNLIKELY((int32_t)distance >= e))
        distance = (uint32_t)e - 1;
    return float_round(sign, e - (int32_t)distance, difference << distance);
}
