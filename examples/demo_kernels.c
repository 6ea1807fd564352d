/* SPDX-License-Identifier: BSD-3-Clause */
/* demo_kernels.c: what demo.py runs on the Vector Engine. Rows are shared out by the caller. */
#include <math.h>
#include <stdlib.h>

static long clamp(long value, long last)
{
    return value < 0 ? 0 : value > last ? last : value;
}

/* Gaussian blur, weights 1 4 6 4 1 in both directions, edges repeated. 0, or -1 without memory. */
int blur(const float *restrict src, float *restrict dst, long width, long height, long first,
         long last)
{
    float *column = malloc(((size_t)width + 4) * sizeof *column);
    if (column == NULL)
        return -1;
    for (long y = first; y < last; y++) {
        const float *a = src + clamp(y - 2, height - 1) * width;
        const float *b = src + clamp(y - 1, height - 1) * width;
        const float *c = src + y * width;
        const float *d = src + clamp(y + 1, height - 1) * width;
        const float *e = src + clamp(y + 2, height - 1) * width;
        for (long x = 0; x < width; x++)
            column[x + 2] = a[x] + e[x] + 4.0f * (b[x] + d[x]) + 6.0f * c[x];
        column[0] = column[1] = column[2];
        column[width + 2] = column[width + 3] = column[width + 1];
        float *out = dst + y * width;
        for (long x = 0; x < width; x++)
            out[x] = (column[x] + column[x + 4] + 4.0f * (column[x + 1] + column[x + 3]) +
                      6.0f * column[x + 2]) /
                     256.0f;
    }
    free(column);
    return 0;
}

/* Length of the Sobel gradient; the outermost pixels become 0. Returns the largest length. */
float sobel(const float *restrict src, float *restrict dst, long width, long height, long first,
            long last)
{
    float largest = 0.0f;
    for (long y = first; y < last; y++) {
        float *out = dst + y * width;
        out[0] = out[width - 1] = 0.0f;
        if (y == 0 || y == height - 1) {
            for (long x = 1; x < width - 1; x++)
                out[x] = 0.0f;
            continue;
        }
        const float *up = src + (y - 1) * width, *at = up + width, *down = at + width;
        for (long x = 1; x < width - 1; x++) {
            float gx =
                up[x + 1] - up[x - 1] + 2.0f * (at[x + 1] - at[x - 1]) + down[x + 1] - down[x - 1];
            float gy = down[x - 1] - up[x - 1] + 2.0f * (down[x] - up[x]) + down[x + 1] - up[x + 1];
            out[x] = sqrtf(gx * gx + gy * gy);
        }
        for (long x = 1; x < width - 1; x++)
            largest = out[x] > largest ? out[x] : largest;
    }
    return largest;
}

/* C = alpha * A * B for square row-major matrices, rows first to last of C. */
void dgemm(double alpha, const double *restrict a, const double *restrict b, double *restrict c,
           long n, long first, long last)
{
    enum { BLOCK = 64 };
    for (long i = first; i < last; i++)
        for (long j = 0; j < n; j++)
            c[i * n + j] = 0.0;
    for (long k0 = 0; k0 < n; k0 += BLOCK) {
        long k1 = k0 + BLOCK < n ? k0 + BLOCK : n;
        for (long i = first; i < last; i++) {
            double *row = c + i * n;
            for (long k = k0; k < k1; k++) {
                double factor = alpha * a[i * n + k];
                for (long j = 0; j < n; j++)
                    row[j] += factor * b[k * n + j];
            }
        }
    }
}

/* The smallest call there is. */
long next(long x)
{
    return x + 1;
}
