/* SPDX-License-Identifier: BSD-3-Clause */
/* double_convert.c: double precision from and to integers. Too large ones become the nearest. */
#include "double_number.h"

uint64_t RUNTIME(__floatsidf)(int32_t i);
uint64_t RUNTIME(__floatunsidf)(uint32_t i);
uint64_t RUNTIME(__floatdidf)(int64_t i);
uint64_t RUNTIME(__floatundidf)(uint64_t i);

/* The absolute value, if it is below 2^32. */
INLINE uint32_t magnitude(uint64_t a, uint32_t e)
{
    return (0x80000000u | high_word(a) << 11 | low_word(a) >> 21) >> (1054 - e);
}

#include "number_to_integer.inc"

/* Any 32 bits fit: there is nothing to round. */
static uint64_t from_unsigned(uint32_t sign, uint32_t i)
{
    uint32_t shift = (uint32_t)__builtin_clz(i);

    i <<= shift;
    return join_words(sign | (((1053 - shift) << 20) + (i >> 11)), i << 21);
}

uint64_t RUNTIME(__floatunsidf)(uint32_t i)
{
    return i == 0 ? 0 : from_unsigned(0, i);
}

uint64_t RUNTIME(__floatsidf)(int32_t i)
{
    uint32_t sign = (uint32_t)i & 0x80000000u;

    return i == 0 ? 0 : from_unsigned(sign, sign ? 0u - (uint32_t)i : (uint32_t)i);
}

static uint64_t from_wide(uint64_t sign, uint64_t i)
{
    uint32_t shift;

    if (i == 0)
        return 0;
    shift = (uint32_t)leading_zeros(i);
    i = shift_left(i, shift);
    /* Bit 63 becomes bit 62. */
    return double_round(sign, 1086 - (int32_t)shift, i >> 1 | (i & 1));
}

uint64_t RUNTIME(__floatundidf)(uint64_t i)
{
    return from_wide(0, i);
}

uint64_t RUNTIME(__floatdidf)(int64_t i)
{
    uint64_t sign = (uint64_t)i & DOUBLE_SIGN;

    return from_wide(sign, sign ? 0u - (uint64_t)i : (uint64_t)i);
}
