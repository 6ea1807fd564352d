/* SPDX-License-Identifier: BSD-3-Clause */
/* call_kernels.c: the functions that the latency benchmarks call. */

long next1(long x)
{
    return x + 1;
}

/* Six arguments of all classes; the result depends on each. */
double mix6(int a, long b, double c, float d, unsigned int e, void *f)
{
    return a + (double)b + c + (double)d + e + (double)(unsigned long)f;
}
