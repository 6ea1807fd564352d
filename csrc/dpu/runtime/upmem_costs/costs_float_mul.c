/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_float_mul.c: multiplication, single precision, by one product of 64 bits. */
#include "costs_multiply64.h"
#include "float_number.h"

static uint32_t multiply(uint32_t sign, int32_t e, uint32_t m, uint32_t n)
{
    /* Bit 54 or bit 55 is set: bit 30 or bit 31 of the high word and what is below it. */
    uint64_t product = RUNTIME(__muldi3)(m << 8, n);
    uint32_t high = high_word(product) << 8 | low_word(product) >> 24;

    high |= low_word(product) << 8 != 0;
    if ((int32_t)high < 0) {
        high = high >> 1 | (high & 1);
        e++;
    }
    return float_round_any(sign, e, high);
}

#include "number_mul.inc"
