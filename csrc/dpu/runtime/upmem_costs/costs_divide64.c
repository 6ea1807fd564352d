/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_divide64.c: division of unsigned 64-bit numbers, bit by bit. */
#include "divide64.h"

uint64_t RUNTIME(__udivmoddi4)(uint64_t a, uint64_t b, uint64_t *rest)
{
    uint64_t quotient = 0;
    int32_t shift;

    if (b == 0) {
        /* The hardware's division by zero, of which the compiler must not know. */
        uint32_t zero = low_word(b);
        __asm__("" : "+r"(zero));
        *rest = 0;
        return low_word(a) / zero;
    }
    if (a < b) {
        *rest = a;
        return 0;
    }

    /* The quotient has as many bits as the divisor has leading zeros more, and one. */
    shift = __builtin_clzll(b) - __builtin_clzll(a);
    b <<= shift;
    do {
        quotient <<= 1;
        if (a >= b) {
            a -= b;
            quotient |= 1;
        }
        b >>= 1;
    } while (--shift >= 0);
    *rest = a;
    return quotient;
}
