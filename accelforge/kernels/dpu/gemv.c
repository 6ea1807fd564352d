/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gemv.c: Z = A x. A tasklet takes ROWS rows at a time, and BLOCK values of them and of x, which it
 * fetches once for all of these rows.
 */
#include <defs.h>
#include <mram.h>
#include <stdint.h>

__mram_noinit int32_t A[M][K];
__mram_noinit int32_t x[K];
__host int32_t Z[M];

static __dma_aligned int32_t row[NR_TASKLETS][BLOCK], part[NR_TASKLETS][BLOCK];

static int32_t dot(const int32_t *a, const int32_t *b)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(void)
{
    int32_t *a = row[me()], *b = part[me()];

    for (uint32_t m = me() * ROWS; m < M; m += NR_TASKLETS * ROWS) {
        int32_t sums[ROWS] = {0};
        for (uint32_t k = 0; k < K; k += BLOCK) {
            mram_read(&x[k], b, BLOCK * sizeof *b);
            for (uint32_t r = 0; r < ROWS; r++) {
                mram_read(&A[m + r][k], a, BLOCK * sizeof *a);
                sums[r] += dot(a, b);
            }
        }
        for (uint32_t r = 0; r < ROWS; r++)
            Z[m + r] = sums[r];
    }
    return 0;
}
