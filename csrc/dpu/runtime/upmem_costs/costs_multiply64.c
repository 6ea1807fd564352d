/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_multiply64.c: multiplication of 64-bit numbers: all products of halves, whatever is 0. */
#include "costs_multiply64.h"

INLINE uint32_t upper_half(uint32_t x)
{
    return x >> 16;
}

INLINE uint32_t lower_half(uint32_t x)
{
    return (uint16_t)x;
}

/* The product of two words by those of their halves, which are four products of bytes each. */
INLINE uint64_t multiply_words(uint32_t a, uint32_t b)
{
    uint32_t low = lower_half(a) * lower_half(b);
    uint32_t left = upper_half(a) * lower_half(b);
    uint32_t right = lower_half(a) * upper_half(b);
    uint32_t high = upper_half(a) * upper_half(b);
    uint32_t middle = upper_half(low) + lower_half(left) + lower_half(right);

    return join_words(high + upper_half(left) + upper_half(right) + upper_half(middle),
                      middle << 16 | lower_half(low));
}

/* Its low word alone. */
static __attribute__((noinline)) uint32_t multiply_low(uint32_t a, uint32_t b)
{
    uint32_t crossed = upper_half(a) * lower_half(b) + lower_half(a) * upper_half(b);

    /* Otherwise the compiler sees a product of words, whose routine is faster for small ones. */
    __asm__("" : "+r"(crossed));
    return lower_half(a) * lower_half(b) + (crossed << 16);
}

uint64_t RUNTIME(__muldi3)(uint64_t a, uint64_t b)
{
    uint32_t crossed = multiply_low(high_word(a), low_word(b));
    uint64_t product;

    crossed += multiply_low(low_word(a), high_word(b));
    product = multiply_words(low_word(a), low_word(b));
    return join_words(high_word(product) + crossed, low_word(product));
}
