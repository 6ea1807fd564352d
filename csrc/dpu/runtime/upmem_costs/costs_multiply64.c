/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_multiply64.c: multiplication of 64-bit numbers: all products of words, whatever is 0. */
#include "costs_multiply64.h"

uint64_t RUNTIME(__muldi3)(uint64_t a, uint64_t b)
{
    uint64_t product = (uint64_t)low_word(a) * low_word(b);
    uint32_t crossed = high_word(a) * low_word(b) + low_word(a) * high_word(b);

    return join_words(high_word(product) + crossed, low_word(product));
}
