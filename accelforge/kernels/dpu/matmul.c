/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matmul.c: C = A B, with B transposed. A tasklet has TILE rows of A in WRAM, and fetches the
 * columns of B one by one.
 */
#include <defs.h>
#include <mram.h>
#include <stdint.h>

__mram_noinit int16_t A[M][K];
__mram_noinit int16_t B[N][K];
__mram_noinit int32_t C[M][N];

static __dma_aligned int16_t rows[NR_TASKLETS][TILE][K], column[NR_TASKLETS][K];
static __dma_aligned int32_t sums[NR_TASKLETS][TILE][N];

static int32_t dot(const int16_t *a, const int16_t *b)
{
    int32_t sum = 0;
    for (uint32_t k = 0; k < K; k++)
        sum += a[k] * b[k];
    return sum;
}

int main(void)
{
    int16_t *b = column[me()];

    for (uint32_t m = me() * TILE; m < M; m += NR_TASKLETS * TILE) {
        for (uint32_t r = 0; r < TILE; r++)
            mram_read(A[m + r], rows[me()][r], sizeof A[0]);

        for (uint32_t n = 0; n < N; n++) {
            mram_read(B[n], b, sizeof B[0]);
            for (uint32_t r = 0; r < TILE; r++)
                sums[me()][r][n] = dot(rows[me()][r], b);
        }

        for (uint32_t r = 0; r < TILE; r++)
            mram_write(sums[me()][r], C[m + r], sizeof C[0]);
    }
    return 0;
}
