/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: what a core of this host does in a second; calibration.py times these loops. */
#include <stdint.h>

/* As many bytes as a vector register has. */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define LANES (WIDTH / (int)sizeof(double))
#define CHAINS 12 /* independent sums: enough to hide the latency of an addition */

typedef double vector __attribute__((vector_size(WIDTH)));

/* Multiplies and adds, in registers: rounds * CHAINS * LANES times. */
double multiply_and_add(long rounds)
{
    vector sums[CHAINS] = {{0}}, factor = {0}, addend = {0}, total = {0};
    factor += 0.999999;
    addend += 0.5;
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++)
        sums[i] += (double)i; /* else a compiler finds them all the same */

    for (long r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = sums[i] * factor + addend;
    }

#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++)
        total += sums[i];
    return total[0];
}

long lanes(void)
{
    return (long)CHAINS * LANES;
}

/* Loads a number of doubles, a multiple of 8 vectors, so many times. */
double load(const double *data, long count, long rounds)
{
    vector sums[8] = {{0}};
    for (long r = 0; r < rounds; r++) {
        for (long i = 0; i < count; i += 8 * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                sums[k] += *(const vector *)(data + i + k * LANES);
        }
        __asm__ volatile("" ::: "memory");
    }
    for (int k = 1; k < 8; k++)
        sums[0] += sums[k];
    return sums[0][0];
}

/* Stores as many. */
void store(double *data, long count, long rounds, double value)
{
    vector values = {0};
    values += value;
    for (long r = 0; r < rounds; r++) {
        for (long i = 0; i < count; i += 8 * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                *(vector *)(data + i + k * LANES) = values;
        }
        __asm__ volatile("" ::: "memory");
    }
}
