/* SPDX-License-Identifier: BSD-3-Clause */
/* float_mul.c: multiplication, single precision. */
#include "float_number.h"

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

#include "number_mul.inc"
