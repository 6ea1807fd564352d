/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: how long loops take on a core of this host, for calibration.py. */
#include "timed.h"

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
typedef double unaligned __attribute__((vector_size(WIDTH), aligned(8)));

static volatile double sink;

/* Multiplies and adds, in registers: rounds * CHAINS * LANES times. */
__attribute__((noinline)) static void multiply_and_add(long rounds)
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
    sink = total[0];
}

/* Loads so many doubles, a multiple of 8 vectors, again and again. */
__attribute__((noinline)) static void load(const double *data, long count, long rounds)
{
    vector sums[8] = {{0}};
    for (long r = 0; r < rounds; r++) {
        for (long i = 0; i < count; i += 8 * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                sums[k] += *(const unaligned *)(data + i + k * LANES);
        }
        __asm__ volatile("" ::: "memory");
    }
    for (int k = 1; k < 8; k++)
        sums[0] += sums[k];
    sink = sums[0][0];
}

__attribute__((noinline)) static void store(double *data, long count, long rounds)
{
    vector values = {0};
    values += 1.0;
    for (long r = 0; r < rounds; r++) {
        for (long i = 0; i < count; i += 8 * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                *(vector *)(data + i + k * LANES) = values;
        }
        __asm__ volatile("" ::: "memory");
    }
}

/* Bytes of a vector register. */
long vector_bytes(void)
{
    return WIDTH;
}

/* Multiplications with addition in a second. */
double fma_rate(long runs, long rounds)
{
    double seconds = BEST_OF(runs, multiply_and_add(rounds));
    return (double)(rounds * CHAINS * LANES) / seconds;
}

/* Bytes in a second: loaded, from addresses that are a multiple of a vector or not, or stored. */
double load_rate(long runs, const double *data, long count, long rounds)
{
    return 8.0 * (double)(count * rounds) / BEST_OF(runs, load(data, count, rounds));
}

double store_rate(long runs, double *data, long count, long rounds)
{
    return 8.0 * (double)(count * rounds) / BEST_OF(runs, store(data, count, rounds));
}
