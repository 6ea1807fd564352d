/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dgemm.c: C = A B for square matrices by rows, whose size is a multiple of 24. A and B are packed
 * into panels first; then ROWS x COLUMNS values of C at a time stay in registers.
 */
#include "timed.h"

#include <string.h>

#if defined(__AVX512F__)
enum { LANES = 8, ROWS = 8, VECTORS = 3 };
#elif defined(__AVX__)
enum { LANES = 4, ROWS = 4, VECTORS = 3 };
#else
enum { LANES = 2, ROWS = 4, VECTORS = 2 };
#endif
enum { COLUMNS = VECTORS * LANES };

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));

/* Panels of ROWS rows, in the order in which multiply() needs them. */
static void pack_a(const double *restrict a, double *restrict to, long n)
{
    for (long i = 0; i < n; i += ROWS)
        for (long k = 0; k < n; k++)
            for (long r = 0; r < ROWS; r++)
                *to++ = a[(i + r) * n + k];
}

static void pack_b(const double *restrict b, double *restrict to, long n)
{
    for (long j = 0; j < n; j += COLUMNS)
        for (long k = 0; k < n; k++, to += COLUMNS)
            memcpy(to, b + k * n + j, sizeof(double) * COLUMNS);
}

static void multiply(const double *a, const double *b, double *c, long n)
{
    vector sums[ROWS][VECTORS] = {{{0}}};
#pragma GCC unroll 2
    for (long k = 0; k < n; k++, a += ROWS, b += COLUMNS) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vector factor = a[r] - (vector){0};
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                sums[r][v] += factor * ((const vector *)b)[v];
        }
    }

#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
        memcpy(c + r * n, sums[r], sizeof sums[r]);
}

/* `room` is for 2 * n * n doubles, at a multiple of 64. */
void dgemm(const double *a, const double *b, double *c, double *room, long n)
{
    double *packed_a = room, *packed_b = room + n * n;
    pack_a(a, packed_a, n);
    pack_b(b, packed_b, n);

    for (long i = 0; i < n; i += ROWS)
        for (long j = 0; j < n; j += COLUMNS)
            multiply(packed_a + i * n, packed_b + j * n, c + i * n + j, n);
}

double time_dgemm(long runs, const double *a, const double *b, double *c, double *room, long n)
{
    return BEST_OF(runs, dgemm(a, b, c, room, n));
}
