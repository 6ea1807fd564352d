/* SPDX-License-Identifier: BSD-3-Clause */
/* double_mul.c: multiplication, double precision. */
#include "double_parts.h"

uint64_t RUNTIME(__muldf3)(uint64_t a, uint64_t b);

/* 53 by 8 bits, as three products that fit into words. */
INLINE uint64_t multiply_byte(uint64_t m, uint32_t byte)
{
    uint32_t low = (low_word(m) & 0xffffff) * byte;
    uint32_t middle = ((low_word(m) >> 24 | high_word(m) << 8) & 0xffffff) * byte;
    uint32_t high = (high_word(m) >> 16) * byte;

    return join_words((high << 16) + (middle >> 8), middle << 24) + low;
}

/*
 * The hardware multiplies by a few bits a step, so that products with bytes are the fastest. They
 * are added from the lowest to the highest, and what falls out below only says that it was there.
 */
static uint64_t multiply(uint64_t sign, int32_t e, uint64_t m, uint64_t n)
{
    uint64_t sum = 0;
    uint32_t lost = 0, part = low_word(n);

    for (int i = 0; i < 7; i++) {
        lost |= low_word(sum) & 255;
        sum = join_words(high_word(sum) >> 8, high_word(sum) << 24 | low_word(sum) >> 8);
        if (i == 4)
            part = high_word(n);
        sum += multiply_byte(m, part & 255);
        part >>= 8;
    }
    /* Bit 57 or bit 56 is set, and becomes bit 62. */
    if (sum >> 57 != 0) {
        sum = shift_left_short(sum, 5);
        e++;
    } else {
        sum = shift_left_short(sum, 6);
    }
    return double_round_any(sign, e, sum | (lost != 0));
}

static uint64_t multiply_special(uint64_t a, uint64_t b, uint64_t sign)
{
    uint64_t size_a = a << 1, size_b = b << 1, m, n;
    int32_t ea, eb;

    if (size_a > DOUBLE_INFINITY << 1)
        return a | DOUBLE_QUIET;
    if (size_b > DOUBLE_INFINITY << 1)
        return b | DOUBLE_QUIET;
    if (size_a == DOUBLE_INFINITY << 1)
        return size_b == 0 ? DOUBLE_NAN : sign | DOUBLE_INFINITY;
    if (size_b == DOUBLE_INFINITY << 1)
        return size_a == 0 ? DOUBLE_NAN : sign | DOUBLE_INFINITY;
    if (size_a == 0 || size_b == 0)
        return sign;
    m = double_normalise(a, &ea);
    n = double_normalise(b, &eb);
    return multiply(sign, ea + eb - 1023, m, n);
}

uint64_t RUNTIME(__muldf3)(uint64_t a, uint64_t b)
{
    uint64_t sign = (a ^ b) & DOUBLE_SIGN;
    uint32_t ea = double_exponent(a), eb = double_exponent(b);

    if (UNLIKELY(ea - 1 >= 2046 || eb - 1 >= 2046))
        return multiply_special(a, b, sign);
    return multiply(sign, (int32_t)(ea + eb) - 1023, (a & DOUBLE_FRACTION) | DOUBLE_IMPLICIT,
                    (b & DOUBLE_FRACTION) | DOUBLE_IMPLICIT);
}
