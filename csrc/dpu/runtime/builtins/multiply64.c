/* SPDX-License-Identifier: BSD-3-Clause */
/* multiply64.c: multiplication of 64-bit numbers. */
#include "arithmetic.h"

uint64_t RUNTIME(__muldi3)(uint64_t a, uint64_t b);

uint64_t RUNTIME(__muldi3)(uint64_t a, uint64_t b)
{
    uint32_t crossed = 0;
    uint64_t product = (uint64_t)low_word(a) * low_word(b);

    /* Most numbers are small. */
    if (high_word(a) != 0)
        crossed += high_word(a) * low_word(b);
    if (high_word(b) != 0)
        crossed += low_word(a) * high_word(b);
    return join_words(high_word(product) + crossed, low_word(product));
}
