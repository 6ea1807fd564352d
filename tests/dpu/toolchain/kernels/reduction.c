/* SPDX-License-Identifier: BSD-3-Clause */
/* Sum, least and greatest of 64-bit numbers. */
#include "kernel.h"

#define BLOCK 32
HOST uint32_t count;
HOST int64_t sum, least, greatest;
IN_MRAM int64_t a[4096];
static ALIGNED int64_t block[NR_TASKLETS][BLOCK];
static int64_t sums[NR_TASKLETS], mins[NR_TASKLETS], maxs[NR_TASKLETS];
static BIT unsigned char bit;
static volatile uint32_t arrived;

int main(void)
{
    uint32_t id = me();
    int64_t s = 0, low = INT64_MAX, high = INT64_MIN;
    for (uint32_t start = id * BLOCK; start < count; start += NR_TASKLETS * BLOCK) {
        read_mram((uint32_t)(a + start), block[id], sizeof block[id]);
        for (uint32_t i = 0; i < BLOCK; i++) {
            int64_t x = block[id][i];
            s += x;
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    }
    sums[id] = s;
    mins[id] = low;
    maxs[id] = high;
    barrier(&bit, &arrived);
    if (id != 0)
        return 0;
    for (uint32_t t = 1; t < NR_TASKLETS; t++) {
        s += sums[t];
        low = mins[t] < low ? mins[t] : low;
        high = maxs[t] > high ? maxs[t] : high;
    }
    sum = s;
    least = low;
    greatest = high;
    return 0;
}
