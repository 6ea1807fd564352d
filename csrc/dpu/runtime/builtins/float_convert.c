/* SPDX-License-Identifier: BSD-3-Clause */
/* float_convert.c: single precision from and to integers. Too large ones become the nearest. */
#include "float_number.h"

uint32_t RUNTIME(__floatsisf)(int32_t i);
uint32_t RUNTIME(__floatunsisf)(uint32_t i);
uint32_t RUNTIME(__floatdisf)(int64_t i);
uint32_t RUNTIME(__floatundisf)(uint64_t i);

/* The absolute value, if it is below 2^31. */
INLINE uint32_t magnitude(uint32_t a, uint32_t e)
{
    return (a << 8 | 0x80000000u) >> (158 - e);
}

#include "number_to_integer.inc"

/* I times 2^(EXTRA) with the given sign; STICKY says that bits below were lost. */
static uint32_t from_unsigned(uint32_t sign, uint32_t i, int32_t extra, uint32_t sticky)
{
    int32_t shift = __builtin_clz(i);

    /* Bit 31 becomes bit 30. */
    i <<= shift;
    return float_round(sign, 158 - shift + extra, i >> 1 | (i & 1) | sticky);
}

uint32_t RUNTIME(__floatunsisf)(uint32_t i)
{
    return i == 0 ? 0 : from_unsigned(0, i, 0, 0);
}

uint32_t RUNTIME(__floatsisf)(int32_t i)
{
    uint32_t sign = (uint32_t)i & FLOAT_SIGN;

    return i == 0 ? 0 : from_unsigned(sign, sign ? 0u - (uint32_t)i : (uint32_t)i, 0, 0);
}

static uint32_t from_wide(uint32_t sign, uint64_t i)
{
    uint32_t high = high_word(i), low = low_word(i);
    uint32_t shift;

    if (high == 0)
        return low == 0 ? 0 : from_unsigned(sign, low, 0, 0);
    shift = (uint32_t)__builtin_clz(high);
    if (shift != 0) {
        high = high << shift | low >> (32 - shift);
        low <<= shift;
    }
    return from_unsigned(sign, high, 32 - (int32_t)shift, low != 0);
}

uint32_t RUNTIME(__floatundisf)(uint64_t i)
{
    return from_wide(0, i);
}

uint32_t RUNTIME(__floatdisf)(int64_t i)
{
    uint32_t sign = high_word((uint64_t)i) & FLOAT_SIGN;

    return from_wide(sign, sign ? 0u - (uint64_t)i : (uint64_t)i);
}
