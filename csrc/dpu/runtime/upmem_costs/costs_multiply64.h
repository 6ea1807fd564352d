/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * costs_multiply64.h: the one multiplication that all routines with the vendor's costs stand on.
 *
 * The files of this folder replace those of builtins with the same functions when a program is
 * linked with --costs=upmem. Their results are the same. Their instruction counts are near those
 * that the rates of UPMEM's chips in PrIM imply (arXiv:2105.03814, figure 4): there a product of
 * 32-bit words costs as much as one of 64-bit numbers, whatever the operands, and a division of
 * floating-point numbers is a series of such products.
 */
#ifndef DPU_RUNTIME_COSTS_MULTIPLY64_H
#define DPU_RUNTIME_COSTS_MULTIPLY64_H

#include "arithmetic.h"

uint64_t RUNTIME(__muldi3)(uint64_t a, uint64_t b);

/* The high word of a product of two words. */
INLINE uint32_t multiply_high(uint32_t a, uint32_t b)
{
    return high_word(RUNTIME(__muldi3)(a, b));
}

/*
 * 1 / D in 32 bits after the point, never above it, for a D of 1 to 2 that has 31 bits after it.
 *
 * Newton's method on x(2 - Dx) from the line that is at most 0.043 wrong; the error is squared each
 * time. Rounding 2 - Dx down keeps the result below 1 / D.
 */
INLINE uint32_t costs_reciprocal(uint32_t d)
{
    uint32_t x = 0x7504f333u - d; /* 3 / 4 + sqrt(1 / 2) - d / 2 */

    for (int i = 0; i < 3; i++) {
        uint32_t two_less = ~multiply_high(d, x); /* 31 bits after the point */
        x = (uint32_t)(RUNTIME(__muldi3)(x, two_less) >> 31);
    }
    return x;
}

#endif
