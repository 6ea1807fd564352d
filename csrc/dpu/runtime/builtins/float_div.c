/* SPDX-License-Identifier: BSD-3-Clause */
/* float_div.c: division, single precision. */
#include "float_parts.h"

uint32_t RUNTIME(__divsf3)(uint32_t a, uint32_t b);

static uint32_t divide(uint32_t sign, int32_t e, uint32_t m, uint32_t n)
{
    uint32_t quotient = 1, digit;

    if (m < n) {
        m <<= 1;
        e--;
    }
    /* The first bit is 1; three divisions give 8 bits each, which makes 25 with the remainder. */
    m -= n;
    for (int i = 0; i < 3; i++) {
        m <<= 8;
        digit = m / n;
        m -= digit * n;
        quotient = quotient << 8 | digit;
    }
    return float_round_any(sign, e, quotient << 6 | (m != 0));
}

static uint32_t divide_special(uint32_t a, uint32_t b, uint32_t sign)
{
    uint32_t size_a = a << 1, size_b = b << 1, m, n;
    int32_t ea, eb;

    if (size_a > FLOAT_INFINITY << 1)
        return a | FLOAT_QUIET;
    if (size_b > FLOAT_INFINITY << 1)
        return b | FLOAT_QUIET;
    if (size_a == FLOAT_INFINITY << 1)
        return size_b == FLOAT_INFINITY << 1 ? FLOAT_NAN : sign | FLOAT_INFINITY;
    if (size_b == FLOAT_INFINITY << 1)
        return sign;
    if (size_b == 0)
        return size_a == 0 ? FLOAT_NAN : sign | FLOAT_INFINITY;
    if (size_a == 0)
        return sign;
    m = float_normalise(a, &ea);
    n = float_normalise(b, &eb);
    return divide(sign, ea - eb + 127, m, n);
}

uint32_t RUNTIME(__divsf3)(uint32_t a, uint32_t b)
{
    uint32_t sign = (a ^ b) & FLOAT_SIGN;
    uint32_t ea = float_exponent(a), eb = float_exponent(b);

    if (UNLIKELY(ea - 1 >= 254 || eb - 1 >= 254))
        return divide_special(a, b, sign);
    return divide(sign, (int32_t)(ea - eb) + 127, (a & FLOAT_FRACTION) | FLOAT_IMPLICIT,
                  (b & FLOAT_FRACTION) | FLOAT_IMPLICIT);
}
