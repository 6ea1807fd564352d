/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_float_add.c: addition and subtraction, single precision, one path for all numbers. */
#include "float_number.h"

#define shift_sticky float_shift_sticky

/* M with its leading bit three above that of a significand; *E becomes smaller. */
INLINE uint32_t shift_to_top(uint32_t m, int32_t *e)
{
    int32_t shift = __builtin_clz(m) - __builtin_clz(FLOAT_IMPLICIT << 3);

    *e -= shift;
    return m << shift;
}

#include "costs_number_add.inc"
