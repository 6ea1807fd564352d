/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.c: Z[i, j] = sum of A[i + d, j + e] * W[d, e] for three by three weights. */
#include "timed.h"

#include <string.h>

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double vector __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

/* A has two more rows and columns than Z, whose columns are a multiple of 32. */
void stencil(const double *restrict a, const double *restrict w, double *restrict z, long rows,
             long columns)
{
    double weights[9];
    long pitch = columns + 2;
    memcpy(weights, w, sizeof weights);

    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j += 4 * LANES) {
            vector sums[4] = {{0}};
#pragma GCC unroll 9
            for (int k = 0; k < 9; k++) {
                const double *from = a + (i + k / 3) * pitch + j + k % 3;
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    sums[v] += weights[k] * *(const vector *)(from + v * LANES);
            }
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                *(vector *)(z + i * columns + j + v * LANES) = sums[v];
        }
}

double time_stencil(long runs, const double *a, const double *w, double *z, long rows, long columns)
{
    return BEST_OF(runs, stencil(a, w, z, rows, columns));
}
