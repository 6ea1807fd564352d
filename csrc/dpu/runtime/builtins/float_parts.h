/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * float_parts.h: single precision, taken apart and put together.
 *
 * A significand in work has its leading bit at bit 30 and 7 bits below the last one that is kept;
 * the lowest of them also stands for everything that was shifted out.
 */
#ifndef DPU_RUNTIME_FLOAT_PARTS_H
#define DPU_RUNTIME_FLOAT_PARTS_H

#include "arithmetic.h"

#define FLOAT_SIGN 0x80000000u
#define FLOAT_INFINITY 0x7f800000u
#define FLOAT_QUIET 0x00400000u
#define FLOAT_NAN 0x7fc00000u
#define FLOAT_IMPLICIT 0x00800000u
#define FLOAT_FRACTION 0x007fffffu

INLINE uint32_t float_exponent(uint32_t a)
{
    return (a >> 23) & 255;
}

INLINE uint32_t float_shift_sticky(uint32_t m, uint32_t n)
{
    if (n == 0)
        return m;
    if (n > 31)
        return m != 0;
    return m >> n | (lost_bits(m, n) != 0);
}

/* M, whose leading bit is at most bit 30, at biased exponent E >= 1, which bit 30 stands for. */
INLINE uint32_t float_round(uint32_t sign, int32_t e, uint32_t m)
{
    m = (m + 63 + ((m >> 7) & 1)) >> 7;
    /* The leading bit adds 1 to the exponent, or none if the number is subnormal. */
    return sign | (((uint32_t)(e - 1) << 23) + m);
}

/* The same for any exponent. */
INLINE uint32_t float_round_any(uint32_t sign, int32_t e, uint32_t m)
{
    if (UNLIKELY(e >= 255))
        return sign | FLOAT_INFINITY;
    if (UNLIKELY(e <= 0)) {
        m = float_shift_sticky(m, (uint32_t)(1 - e));
        e = 1;
    }
    return float_round(sign, e, m);
}

/* The significand of a number that is not 0, normalised to bit 23; *E becomes its exponent. */
INLINE uint32_t float_normalise(uint32_t a, int32_t *e)
{
    uint32_t fraction = a & FLOAT_FRACTION;
    uint32_t shift;

    *e = (int32_t)float_exponent(a);
    if (LIKELY(*e != 0))
        return fraction | FLOAT_IMPLICIT;
    shift = (uint32_t)__builtin_clz(fraction) - 8;
    *e = 1 - (int32_t)shift;
    return fraction << shift;
}

#endif
