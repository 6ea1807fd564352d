/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that the translator has shorter ways for, on pairs of numbers. */
#include "kernel.h"

#define PAIRS 64
#define NOINLINE __attribute__((noinline))
HOST uint64_t left[PAIRS], right[PAIRS];
HOST uint64_t sums[PAIRS], differences[PAIRS], products[PAIRS], increments[PAIRS], wide[PAIRS];
HOST int64_t signed_wide[PAIRS], mixed_wide[PAIRS];
HOST uint32_t branches[PAIRS], values[PAIRS];
HOST uint32_t scaled[PAIRS][12], narrow[PAIRS][10], ratios[PAIRS][4];

#define BRANCH(bit, condition) \
    if (condition) \
        found |= 1u << (bit); \
    else \
        other ^= 3u << (bit)

static NOINLINE uint32_t by_branches(uint64_t a, uint64_t b)
{
    uint32_t found = 0, other = 0;
    BRANCH(0, a < b);
    BRANCH(1, a <= b);
    BRANCH(2, a == b);
    BRANCH(3, (int64_t)a < (int64_t)b);
    BRANCH(4, (int64_t)a <= (int64_t)b);
    BRANCH(5, a > 0x100000005u);
    BRANCH(6, (int64_t)a >= 7);
    BRANCH(7, (int64_t)a > -1);
    return found ^ other << 16;
}

static NOINLINE bool unsigned_less(uint64_t a, uint64_t b)
{
    return a < b;
}

static NOINLINE bool signed_less(int64_t a, int64_t b)
{
    return a < b;
}

static NOINLINE bool signed_not_more(int64_t a, int64_t b)
{
    return a <= b;
}

static NOINLINE bool different(uint64_t a, uint64_t b)
{
    return a != b;
}

static NOINLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static NOINLINE void scale(uint32_t a, uint32_t *to)
{
    static const uint32_t none = 0;
    to[0] = a * 100;
    to[1] = a * 1000003;
    to[2] = a * 0x80000000u;
    to[3] = a * 0xFFFFFFFFu;
    to[4] = a * 0xFFFFFF9Bu;
    to[5] = a * 255;
    to[6] = a * 0x55555555u;
    to[7] = a * 641;
    to[8] = a * 0x7FFFFFFFu;
    to[9] = a * 10000;
    to[10] = a * 0xFFFE0000u;
    to[11] = a * none;
}

static NOINLINE void multiply_narrow(uint32_t a, uint32_t b, uint32_t *to)
{
    to[0] = (uint32_t)(uint8_t)a * (uint8_t)b;
    to[1] = (uint32_t)((int32_t)(int8_t)a * (int8_t)b);
    to[2] = (uint32_t)((int32_t)(uint8_t)a * (int8_t)b);
    to[3] = (uint32_t)(uint16_t)a * (uint16_t)b;
    to[4] = (uint32_t)((int32_t)(int16_t)a * (int16_t)b);
    to[5] = (uint32_t)((int32_t)(int8_t)a * (int16_t)b);
    to[6] = (uint32_t)((int32_t)(uint16_t)a * (int16_t)b);
    to[7] = a * (uint8_t)b;
    to[8] = a * (uint32_t)(int32_t)(int8_t)b;
    to[9] = a * (uint16_t)b;
}

int main(void)
{
    for (uint32_t i = me(); i < PAIRS; i += NR_TASKLETS) {
        uint64_t a = left[i], b = right[i];
        uint32_t low = (uint32_t)a, other = (uint32_t)b;
        sums[i] = a + b;
        differences[i] = a - b;
        products[i] = a * b;
        increments[i] = (uint64_t)least((int64_t)(a + 1), (int64_t)(b - 1));
        wide[i] = (uint64_t)low * other;
        signed_wide[i] = (int64_t)(int32_t)low * (int32_t)other;
        mixed_wide[i] = (int64_t)(int32_t)low * other;
        branches[i] = by_branches(a, b);
        values[i] =
            (uint32_t)unsigned_less(a, b) | (uint32_t)signed_less((int64_t)a, (int64_t)b) << 1 |
            (uint32_t)signed_not_more((int64_t)a, (int64_t)b) << 2 | (uint32_t)different(a, b) << 3;
        scale(low, scaled[i]);
        multiply_narrow(low, other, narrow[i]);
        uint32_t divisor = other ? other : 1;
        ratios[i][0] = low / divisor;
        ratios[i][1] = low % divisor;
        ratios[i][2] = (uint32_t)((int32_t)low / (int32_t)(divisor | 1));
        ratios[i][3] = (uint32_t)((int32_t)low % (int32_t)(divisor | 1));
    }
    return 0;
}
