/* SPDX-License-Identifier: BSD-3-Clause */
/* double_extend.c: between single and double precision. */
#include "double_parts.h"
#include "float_parts.h"

uint64_t RUNTIME(__extendsfdf2)(uint32_t a);
uint32_t RUNTIME(__truncdfsf2)(uint64_t a);

uint64_t RUNTIME(__extendsfdf2)(uint32_t a)
{
    uint32_t sign = a & FLOAT_SIGN, size = a & ~FLOAT_SIGN, e = float_exponent(a);
    uint32_t shift;

    if (LIKELY(e - 1 < 254))
        return join_words(sign | ((size >> 3) + (896u << 20)), size << 29);
    if (e == 255) {
        if (size > FLOAT_INFINITY)
            size |= FLOAT_QUIET;
        return join_words(sign | 0x7ff00000u | (size & FLOAT_FRACTION) >> 3, size << 29);
    }
    if (size == 0)
        return join_words(sign, 0);
    /* A subnormal number of single precision is a normal one here; bit 31 is the leading one. */
    shift = (uint32_t)__builtin_clz(size);
    size <<= shift;
    return join_words(sign | (((904 - shift) << 20) + (size >> 11)), size << 21);
}

uint32_t RUNTIME(__truncdfsf2)(uint64_t a)
{
    uint32_t sign = high_word(a) & FLOAT_SIGN, e = double_exponent(a);
    uint32_t high = high_word(a) & 0xfffffu, low = low_word(a);
    uint32_t m;

    if (UNLIKELY(e == 2047)) {
        if ((high | low) == 0)
            return sign | FLOAT_INFINITY;
        return sign | FLOAT_NAN | high << 3 | low >> 29;
    }
    if (UNLIKELY(e == 0)) {
        /* Far below the smallest number of single precision. */
        return sign;
    }
    m = 1u << 30 | high << 10 | low >> 22 | (low << 10 != 0);
    return float_round_any(sign, (int32_t)e - 896, m);
}
