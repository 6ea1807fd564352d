/* SPDX-License-Identifier: BSD-3-Clause */
/* double_mul.c: multiplication, double precision. */
#include "double_number.h"

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

#include "number_mul.inc"
