/* SPDX-License-Identifier: BSD-3-Clause */
/* bits.c: counting and swapping of bits and bytes. */
#include "arithmetic.h"

int32_t RUNTIME(__clzsi2)(uint32_t a);
int32_t RUNTIME(__clzdi2)(uint64_t a);
int32_t RUNTIME(__ctzsi2)(uint32_t a);
int32_t RUNTIME(__ctzdi2)(uint64_t a);
int32_t RUNTIME(__ffssi2)(uint32_t a);
int32_t RUNTIME(__ffsdi2)(uint64_t a);
int32_t RUNTIME(__popcountsi2)(uint32_t a);
int32_t RUNTIME(__popcountdi2)(uint64_t a);
int32_t RUNTIME(__paritysi2)(uint32_t a);
int32_t RUNTIME(__paritydi2)(uint64_t a);
uint32_t RUNTIME(__bswapsi2)(uint32_t a);
uint64_t RUNTIME(__bswapdi2)(uint64_t a);

/* The hardware counts leading zeros and bits; the rest is made of these two. */
int32_t RUNTIME(__clzsi2)(uint32_t a)
{
    return __builtin_clz(a);
}

int32_t RUNTIME(__clzdi2)(uint64_t a)
{
    return high_word(a) != 0 ? __builtin_clz(high_word(a)) : 32 + __builtin_clz(low_word(a));
}

int32_t RUNTIME(__ctzsi2)(uint32_t a)
{
    return 31 - __builtin_clz(a & (0u - a));
}

int32_t RUNTIME(__ctzdi2)(uint64_t a)
{
    return low_word(a) != 0 ? RUNTIME(__ctzsi2)(low_word(a)) : 32 + RUNTIME(__ctzsi2)(high_word(a));
}

int32_t RUNTIME(__ffssi2)(uint32_t a)
{
    return a == 0 ? 0 : 1 + RUNTIME(__ctzsi2)(a);
}

int32_t RUNTIME(__ffsdi2)(uint64_t a)
{
    return a == 0 ? 0 : 1 + RUNTIME(__ctzdi2)(a);
}

int32_t RUNTIME(__popcountsi2)(uint32_t a)
{
    return __builtin_popcount(a);
}

int32_t RUNTIME(__popcountdi2)(uint64_t a)
{
    return RUNTIME(__popcountsi2)(high_word(a)) + RUNTIME(__popcountsi2)(low_word(a));
}

int32_t RUNTIME(__paritysi2)(uint32_t a)
{
    return RUNTIME(__popcountsi2)(a) & 1;
}

int32_t RUNTIME(__paritydi2)(uint64_t a)
{
    return RUNTIME(__popcountsi2)(high_word(a) ^ low_word(a)) & 1;
}

uint32_t RUNTIME(__bswapsi2)(uint32_t a)
{
    a = (a & 0xff00ffu) << 8 | (a >> 8 & 0xff00ffu);
    return a << 16 | a >> 16;
}

uint64_t RUNTIME(__bswapdi2)(uint64_t a)
{
    return join_words(RUNTIME(__bswapsi2)(low_word(a)), RUNTIME(__bswapsi2)(high_word(a)));
}
