/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_double_mul.c: multiplication, double precision, by products of words. */
#include "costs_multiply64.h"
#include "costs_wide_product.h"
#include "double_number.h"

static uint64_t multiply(uint64_t sign, int32_t e, uint64_t m, uint64_t n)
{
    /* Bit 125 or bit 126 of the product is set: bit 61 or bit 62 of its high half. */
    uint64_t low, high = costs_wide_product(m << 11, n << 10, &low);

    if (high >> 62 != 0) {
        e++;
    } else {
        high = high << 1 | low >> 63;
        low <<= 1;
    }
    return double_round_any(sign, e, high | (low != 0));
}

#include "number_mul.inc"
