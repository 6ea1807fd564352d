/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction.c: the sum of numbers. Tasklets take blocks in turn, and the first adds up their sums.
 */
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

__mram_noinit int64_t A[N];
__host int64_t S;

static __dma_aligned int64_t block[NR_TASKLETS][BLOCK];
static int64_t sums[NR_TASKLETS];

BARRIER_INIT(added, NR_TASKLETS)

int main(void)
{
    int64_t *a = block[me()], sum = 0;

    for (uint32_t n = me() * BLOCK; n < N; n += NR_TASKLETS * BLOCK) {
        mram_read(&A[n], a, BLOCK * sizeof *a);
        for (uint32_t i = 0; i < BLOCK; i++)
            sum += a[i];
    }
    sums[me()] = sum;

    barrier_wait(&added);
    if (me() == 0) {
        for (uint32_t t = 1; t < NR_TASKLETS; t++)
            sum += sums[t];
        S = sum;
    }
    return 0;
}
