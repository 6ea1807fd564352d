/* SPDX-License-Identifier: BSD-3-Clause */
/* histogram.c: how often each byte occurs. Each tasklet has counts of its own, which it adds up. */
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

#define BINS 256
__mram_noinit uint8_t A[N];
__host uint32_t H[BINS];

static __dma_aligned uint8_t block[NR_TASKLETS][BLOCK];
static uint32_t counts[NR_TASKLETS][BINS];

BARRIER_INIT(counted, NR_TASKLETS)

int main(void)
{
    uint8_t *a = block[me()];
    uint32_t *own = counts[me()];

    for (uint32_t n = me() * BLOCK; n < N; n += NR_TASKLETS * BLOCK) {
        mram_read(&A[n], a, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++)
            own[a[i]]++;
    }

    barrier_wait(&counted);
    for (uint32_t b = me(); b < BINS; b += NR_TASKLETS) {
        uint32_t sum = 0;
        for (uint32_t t = 0; t < NR_TASKLETS; t++)
            sum += counts[t][b];
        H[b] = sum;
    }
    return 0;
}
