/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_double_add.c: addition and subtraction, double precision, one path for all numbers. */
#include "double_number.h"

#define shift_sticky shift_right_sticky

/* M with its leading bit three above that of a significand; *E becomes smaller. */
INLINE uint64_t shift_to_top(uint64_t m, int32_t *e)
{
    int32_t shift = leading_zeros(m) - leading_zeros(DOUBLE_IMPLICIT << 3);

    *e -= shift;
    return shift_left(m, (uint32_t)shift);
}

#include "costs_number_add.inc"
