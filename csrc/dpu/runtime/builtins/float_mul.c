/* SPDX-License-Identifier: BSD-3-Clause */
/* float_mul.c: multiplication, single precision. */
#include "float_parts.h"

uint32_t RUNTIME(__mulsf3)(uint32_t a, uint32_t b);

/*
 * The hardware multiplies by a few bits a step: a product with a byte is short work, and one of 24
 * by 8 bits fits into a word, with room for what the product with the byte below hands on.
 */
static uint32_t multiply(uint32_t sign, int32_t e, uint32_t m, uint32_t n)
{
    uint32_t low = m * (n & 255);
    uint32_t middle = m * ((n >> 8) & 255) + (low >> 8);
    uint32_t high = m * (n >> 16) + (middle >> 8);

    /* Bit 31 or bit 30 is set. */
    high |= ((low | middle) & 255) != 0;
    if ((int32_t)high < 0) {
        high = high >> 1 | (high & 1);
        e++;
    }
    return float_round_any(sign, e, high);
}

static uint32_t multiply_special(uint32_t a, uint32_t b, uint32_t sign)
{
    uint32_t size_a = a << 1, size_b = b << 1, m, n;
    int32_t ea, eb;

    if (size_a > FLOAT_INFINITY << 1)
        return a | FLOAT_QUIET;
    if (size_b > FLOAT_INFINITY << 1)
        return b | FLOAT_QUIET;
    if (size_a == FLOAT_INFINITY << 1)
        return size_b == 0 ? FLOAT_NAN : sign | FLOAT_INFINITY;
    if (size_b == FLOAT_INFINITY << 1)
        return size_a == 0 ? FLOAT_NAN : sign | FLOAT_INFINITY;
    if (size_a == 0 || size_b == 0)
        return sign;
    m = float_normalise(a, &ea);
    n = float_normalise(b, &eb);
    return multiply(sign, ea + eb - 127, m, n);
}

uint32_t RUNTIME(__mulsf3)(uint32_t a, uint32_t b)
{
    uint32_t sign = (a ^ b) & FLOAT_SIGN;
    uint32_t ea = float_exponent(a), eb = float_exponent(b);

    if (UNLIKELY(ea - 1 >= 254 || eb - 1 >= 254))
        return multiply_special(a, b, sign);
    return multiply(sign, (int32_t)(ea + eb) - 127, (a & FLOAT_FRACTION) | FLOAT_IMPLICIT,
                    (b & FLOAT_FRACTION) | FLOAT_IMPLICIT);
}
