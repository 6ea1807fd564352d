/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * double_parts.h: double precision, taken apart and put together.
 *
 * A significand in work has its leading bit at bit 62 and 10 bits below the last one that is kept;
 * the lowest of them also stands for everything that was shifted out.
 */
#ifndef DPU_RUNTIME_DOUBLE_PARTS_H
#define DPU_RUNTIME_DOUBLE_PARTS_H

#include "arithmetic.h"

#define DOUBLE_SIGN 0x8000000000000000u
#define DOUBLE_INFINITY 0x7ff0000000000000u
#define DOUBLE_QUIET 0x0008000000000000u
#define DOUBLE_NAN 0x7ff8000000000000u
#define DOUBLE_IMPLICIT 0x0010000000000000u
#define DOUBLE_FRACTION 0x000fffffffffffffu

INLINE uint32_t double_exponent(uint64_t a)
{
    return (high_word(a) >> 20) & 2047;
}

/* Shifts of words, which the compiler need not check for amounts above 31. */
INLINE uint64_t shift_left_short(uint64_t m, uint32_t n)
{
    if (n == 0)
        return m;
    return join_words(high_word(m) << n | low_word(m) >> (32 - n), low_word(m) << n);
}

INLINE uint64_t shift_left(uint64_t m, uint32_t n)
{
    if (n >= 32) {
        m = join_words(low_word(m), 0);
        n -= 32;
    }
    return shift_left_short(m, n);
}

INLINE uint64_t shift_right_sticky(uint64_t m, uint32_t n)
{
    uint32_t high = high_word(m), low = low_word(m), lost = 0;

    if (n >= 64)
        return m != 0;
    if (n >= 32) {
        lost = low;
        low = high;
        high = 0;
        n -= 32;
    }
    if (n != 0) {
        lost |= lost_bits(low, n);
        low = low >> n | lost_bits(high, n);
        high >>= n;
    }
    return join_words(high, low | (lost != 0));
}

INLINE int32_t leading_zeros(uint64_t m)
{
    return high_word(m) != 0 ? __builtin_clz(high_word(m)) : 32 + __builtin_clz(low_word(m));
}

/* M, whose leading bit is at most bit 62, at biased exponent E >= 1, which bit 62 stands for. */
INLINE uint64_t double_round(uint64_t sign, int32_t e, uint64_t m)
{
    m += 511 + ((low_word(m) >> 10) & 1);
    m = join_words(high_word(m) >> 10, high_word(m) << 22 | low_word(m) >> 10);
    /* The leading bit adds 1 to the exponent, or none if the number is subnormal. */
    return sign | join_words(high_word(m) + ((uint32_t)(e - 1) << 20), low_word(m));
}

/* The same for any exponent. */
INLINE uint64_t double_round_any(uint64_t sign, int32_t e, uint64_t m)
{
    if (UNLIKELY(e >= 2047))
        return sign | DOUBLE_INFINITY;
    if (UNLIKELY(e <= 0)) {
        m = shift_right_sticky(m, (uint32_t)(1 - e));
        e = 1;
    }
    return double_round(sign, e, m);
}

/* The significand of a number that is not 0, normalised to bit 52; *E becomes its exponent. */
INLINE uint64_t double_normalise(uint64_t a, int32_t *e)
{
    uint64_t fraction = a & DOUBLE_FRACTION;
    uint32_t shift;

    *e = (int32_t)double_exponent(a);
    if (LIKELY(*e != 0))
        return fraction | DOUBLE_IMPLICIT;
    shift = (uint32_t)leading_zeros(fraction) - 11;
    *e = 1 - (int32_t)shift;
    return shift_left(fraction, shift);
}

#endif
