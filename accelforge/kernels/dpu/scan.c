/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c: prefix sums. Each tasklet has a part of the numbers; it adds them up, adds what the parts
 * before come to, and then goes through them again.
 */
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

#define PART (N / NR_TASKLETS)
__mram_noinit uint32_t A[N];
__mram_noinit uint32_t P[N];

static __dma_aligned uint32_t block[NR_TASKLETS][BLOCK];
static uint32_t sums[NR_TASKLETS];

BARRIER_INIT(added, NR_TASKLETS)

int main(void)
{
    uint32_t *a = block[me()], first = me() * PART, sum = 0;

    for (uint32_t n = 0; n < PART; n += BLOCK) {
        mram_read(&A[first + n], a, BLOCK * sizeof *a);
        for (uint32_t i = 0; i < BLOCK; i++)
            sum += a[i];
    }
    sums[me()] = sum;

    barrier_wait(&added);
    sum = 0;
    for (uint32_t t = 0; t < me(); t++)
        sum += sums[t];

    for (uint32_t n = 0; n < PART; n += BLOCK) {
        mram_read(&A[first + n], a, BLOCK * sizeof *a);
        for (uint32_t i = 0; i < BLOCK; i++) {
            sum += a[i];
            a[i] = sum;
        }
        mram_write(a, &P[first + n], BLOCK * sizeof *a);
    }
    return 0;
}
