/* SPDX-License-Identifier: BSD-3-Clause */
/* float_div.c: division, single precision. */
#include "float_number.h"

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

#include "number_div.inc"
