/* SPDX-License-Identifier: BSD-3-Clause */
/* divide64.c: unsigned division of 64-bit numbers. */
#include "divide64.h"

/* HIGH:LOW / B for HIGH < B; *REST becomes the remainder. */
static uint32_t divide_words(uint32_t high, uint32_t low, uint32_t b, uint32_t *rest)
{
    uint32_t carry;

    if (b < 1u << 16) {
        /* Two digits of 16 bits, each a division of 32 bits. */
        uint32_t part = high << 16 | low >> 16, digit = part / b;

        part = (part - digit * b) << 16 | (low & 0xffff);
        high = digit << 16;
        digit = part / b;
        *rest = part - digit * b;
        return high | digit;
    }
    /* The quotient's bits come in from the right as those of the dividend leave to the left. */
    for (int i = 0; i < 32; i++) {
        carry = high >> 31;
        high = high << 1 | low >> 31;
        low <<= 1;
        if (carry != 0 || high >= b) {
            high -= b;
            low |= 1;
        }
    }
    *rest = high;
    return low;
}

uint64_t RUNTIME(__udivmoddi4)(uint64_t a, uint64_t b, uint64_t *rest)
{
    uint32_t a_high = high_word(a), a_low = low_word(a);
    uint32_t b_high = high_word(b), b_low = low_word(b);
    uint32_t high, low, quotient, shift;

    if (b_high == 0) {
        if (a_high < b_low) {
            high = 0;
        } else {
            /* b = 0 comes here, and is the hardware's division by zero. */
            high = a_high / b_low;
            a_high -= high * b_low;
        }
        if (a_high == 0) {
            quotient = a_low / b_low;
            low = a_low - quotient * b_low;
        } else {
            quotient = divide_words(a_high, a_low, b_low, &low);
        }
        *rest = low;
        return join_words(high, quotient);
    }

    /* The quotient has as many bits as the divisor has leading zeros more, and one. */
    if (a < b) {
        *rest = a;
        return 0;
    }
    shift = (uint32_t)__builtin_clz(b_high) - (uint32_t)__builtin_clz(a_high);
    if (shift != 0)
        b = join_words(b_high << shift | b_low >> (32 - shift), b_low << shift);
    quotient = 0;
    do {
        quotient <<= 1;
        if (a >= b) {
            a -= b;
            quotient |= 1;
        }
        b = join_words(high_word(b) >> 1, high_word(b) << 31 | low_word(b) >> 1);
    } while (shift-- != 0);
    *rest = a;
    return quotient;
}
