/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_kernels.c: what vector_speed.py times, once with intrinsics for the Vector Engine and once
 * as loops for the host. Kernels repeat their work, so that what a call costs does not count.
 */
enum { LENGTH = 256, SIDE = 512, GRID = 1024 };
enum { PLANES = 8, MAPS = 8, ROWS = 64, WIDTH = 254, PITCH = 256 };

#ifdef __ve__
#include <velintrin.h>

/* y = OPERATION(y, z, w) on one vector: a chain, so that none can be left out. */
#define INSTRUCTION(name, type, of_vectors, of_elements) \
    void name(long repeats, type *y, type *z, type *w) \
    { \
        __vr vy = _vel_vld_vssl(8, y, LENGTH); \
        __vr vz = _vel_vld_vssl(8, z, LENGTH), vw = _vel_vld_vssl(8, w, LENGTH); \
        for (long r = 0; r < repeats; r++) \
            vy = of_vectors; \
        _vel_vst_vssl(vy, 8, y, LENGTH); \
        (void)vw; \
    }
#else
#define INSTRUCTION(name, type, of_vectors, of_elements) \
    void name(long repeats, type *restrict y, type *restrict z, type *restrict w) \
    { \
        for (long r = 0; r < repeats; r++) { \
            for (long i = 0; i < LENGTH * (long)(8 / sizeof *y); i++) \
                y[i] = of_elements; \
            __asm__ volatile("" ::: "memory"); \
        } \
        (void)z, (void)w; \
    }
#endif

INSTRUCTION(add_long, long, _vel_vaddsl_vvvl(vy, vz, LENGTH), y[i] + z[i])
INSTRUCTION(multiply_long, long, _vel_vmulsl_vvvl(vy, vz, LENGTH), y[i] * z[i])
INSTRUCTION(and_long, long, _vel_vand_vvvl(vy, vz, LENGTH), y[i] & z[i])
INSTRUCTION(shift_long, long, _vel_vsll_vvsl(vy, 3, LENGTH), (long)((unsigned long)y[i] << 3))
INSTRUCTION(add_packed, int, _vel_pvadds_vvvl(vy, vz, LENGTH), y[i] + z[i])
INSTRUCTION(add_double, double, _vel_vfaddd_vvvl(vy, vz, LENGTH), y[i] + z[i])
INSTRUCTION(fma_double, double, _vel_vfmadd_vvvvl(vy, vz, vw, LENGTH),
            __builtin_fma(z[i], w[i], y[i]))
INSTRUCTION(divide_double, double, _vel_vfdivd_vvvl(vy, vz, LENGTH), y[i] / z[i])
INSTRUCTION(root_double, double, _vel_vfsqrtd_vvl(vy, LENGTH), __builtin_sqrt(y[i]))
INSTRUCTION(fma_packed, float, _vel_pvfmad_vvvvl(vy, vz, vw, LENGTH),
            __builtin_fmaf(z[i], w[i], y[i]))

#ifdef __ve__
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

void copy(long repeats, double *y, double *z, double *w)
{
    (void)w;
    for (long r = 0; r < repeats; r++)
        _vel_vst_vssl(_vel_vld_vssl(8, z, LENGTH), 8, y, LENGTH);
}

void gather(long repeats, double *y, double *z, long *places)
{
    __vr at = _vel_vsfa_vvssl(_vel_vld_vssl(8, places, LENGTH), 3, (unsigned long)z, LENGTH);
    for (long r = 0; r < repeats; r++)
        _vel_vst_vssl(_vel_vgt_vvssl(at, 0, 0, LENGTH), 8, y, LENGTH);
}

void axpy(long repeats, long n, double a, double *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr vx = _vel_vld_vssl(8, x + i, l), vy = _vel_vld_vssl(8, y + i, l);
            _vel_vst_vssl(_vel_vfmadd_vvsvl(vy, a, vx, l), 8, y + i, l);
        }
}

double dot(long repeats, long n, double *x, double *y)
{
    double total = 0;
    for (long r = 0; r < repeats; r++) {
        __vr sum = _vel_vbrdd_vsl(0, LENGTH);
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr vx = _vel_vld_vssl(8, x + i, l), vy = _vel_vld_vssl(8, y + i, l);
            sum = _vel_vfmadd_vvvvvl(sum, vx, vy, sum, l);
        }
        total += _vel_lvsd_svs(_vel_vfsumd_vvl(sum, LENGTH), 0);
    }
    return total;
}

/* Eight rows at a time, so that each load of b serves eight products. */
void dgemm(long repeats, double *a, double *b, double *c)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < SIDE; i += 8)
            for (long j = 0; j < SIDE; j += LENGTH) {
                __vr sum0 = _vel_vbrdd_vsl(0, LENGTH);
                __vr sum1 = sum0, sum2 = sum0, sum3 = sum0, sum4 = sum0, sum5 = sum0;
                __vr sum6 = sum0, sum7 = sum0;
                for (long k = 0; k < SIDE; k++) {
                    __vr row = _vel_vld_vssl(8, b + k * SIDE + j, LENGTH);
                    const double *left = a + i * SIDE + k;
#define PRODUCT(n) sum##n = _vel_vfmadd_vvsvl(sum##n, left[(n) * SIDE], row, LENGTH);
                    PRODUCT(0)
                    PRODUCT(1) PRODUCT(2) PRODUCT(3) PRODUCT(4) PRODUCT(5) PRODUCT(6) PRODUCT(7)
                }
#define STORE(n) _vel_vst_vssl(sum##n, 8, c + (i + (n)) * SIDE + j, LENGTH);
                STORE(0) STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7)
            }
}

void stencil(long repeats, double *from, double *to)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 1; i < GRID - 1; i++)
            for (long j = 1; j < GRID - 1; j += LENGTH) {
                int l = (int)LEAST(GRID - 1 - j, LENGTH);
                double *at = from + i * GRID + j;
                __vr across =
                    _vel_vfaddd_vvvl(_vel_vld_vssl(8, at - 1, l), _vel_vld_vssl(8, at + 1, l), l);
                __vr along = _vel_vfaddd_vvvl(_vel_vld_vssl(8, at - GRID, l),
                                              _vel_vld_vssl(8, at + GRID, l), l);
                __vr all = _vel_vfmuld_vsvl(0.25, _vel_vfaddd_vvvl(across, along, l), l);
                _vel_vst_vssl(all, 8, to + i * GRID + j, l);
            }
}

/* Images of PLANES channels, and MAPS filters of 3 by 3, two of which are done at a time. */
void convolve_packed(long repeats, float *image, float *weights, float *to)
{
    for (long r = 0; r < repeats; r++)
        for (long m = 0; m < MAPS; m += 2)
            for (long i = 0; i < ROWS; i++) {
                __vr sum = _vel_pvbrd_vsl(0, WIDTH);
                for (long c = 0; c < PLANES; c++)
                    for (long k = 0; k < 9; k++) {
                        const float *at = image + (c * (ROWS + 2) + i + k / 3) * PITCH + k % 3;
                        const float *w = weights + (m * PLANES + c) * 9 + k;
                        __vr row = _vel_vldu_vssl(4, at, WIDTH);
                        unsigned long pair = _vel_pack_f32p(w, w + PLANES * 9);
                        row = _vel_vshf_vvvsl(row, row, VE_VSHUFFLE_YUZU, WIDTH);
                        sum = _vel_pvfmad_vvsvl(sum, pair, row, WIDTH);
                    }
                _vel_vstu_vssl(sum, 4, to + (m * ROWS + i) * PITCH, WIDTH);
                _vel_vstl_vssl(sum, 4, to + ((m + 1) * ROWS + i) * PITCH, WIDTH);
            }
}

void convolve(long repeats, float *image, float *weights, float *to)
{
    for (long r = 0; r < repeats; r++)
        for (long m = 0; m < MAPS; m++)
            for (long i = 0; i < ROWS; i++) {
                __vr sum = _vel_vbrds_vsl(0, WIDTH);
                for (long c = 0; c < PLANES; c++)
                    for (long k = 0; k < 9; k++) {
                        const float *at = image + (c * (ROWS + 2) + i + k / 3) * PITCH + k % 3;
                        float w = weights[(m * PLANES + c) * 9 + k];
                        sum = _vel_vfmads_vvsvl(sum, w, _vel_vldu_vssl(4, at, WIDTH), WIDTH);
                    }
                _vel_vstu_vssl(sum, 4, to + (m * ROWS + i) * PITCH, WIDTH);
            }
}

void integers(long repeats, long n, int *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr number = _vel_vcvtdw_vvl(_vel_vldlsx_vssl(4, x + i, l), l);
            _vel_vst_vssl(_vel_vfmuld_vsvl(0.5, number, l), 8, y + i, l);
        }
}

void truncated(long repeats, long n, double *x, int *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr number = _vel_vfmuld_vsvl(1000.0, _vel_vld_vssl(8, x + i, l), l);
            _vel_vstl_vssl(_vel_vcvtwdsxrz_vvl(number, l), 4, y + i, l);
        }
}

void narrowed(long repeats, long n, double *x, float *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr number = _vel_vcvtsd_vvl(_vel_vld_vssl(8, x + i, l), l);
            _vel_vstu_vssl(number, 4, y + i, l);
        }
}

/* Numbers above a limit stay, others are made of another array. */
void chosen(long repeats, long n, double limit, double *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr vx = _vel_vld_vssl(8, x + i, l), vy = _vel_vld_vssl(8, y + i, l);
            __vm256 above = _vel_vfmkdlt_mvl(_vel_vfcmpd_vsvl(limit, vx, l), l);
            __vr other = _vel_vfmuld_vsvl(0.5, _vel_vfaddd_vvvl(vx, vy, l), l);
            _vel_vst_vssl(_vel_vmrg_vvvml(other, vx, above, l), 8, y + i, l);
        }
}

void largest(long repeats, long n, double limit, double *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr most = _vel_vfmaxd_vsvl(limit, _vel_vld_vssl(8, x + i, l), l);
            __vr sum = _vel_vfaddd_vvvl(most, _vel_vld_vssl(8, y + i, l), l);
            _vel_vst_vssl(sum, 8, y + i, l);
        }
}

/* A row of a sparse matrix for each vector. */
void gathered(long repeats, long n, long *places, double *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr at = _vel_vld_vssl(8, places + i, l);
            __vr vx = _vel_vgt_vvssl(_vel_vsfa_vvssl(at, 3, (unsigned long)x, l), 0, 0, l);
            __vr vy = _vel_vld_vssl(8, y + i, l);
            _vel_vst_vssl(_vel_vfmadd_vvsvl(vy, 0.5, vx, l), 8, y + i, l);
        }
}

void scattered(long repeats, long n, long *places, double *x, double *y)
{
    for (long r = 0; r < repeats; r++)
        for (long i = 0; i < n; i += LENGTH) {
            int l = (int)LEAST(n - i, LENGTH);
            __vr at = _vel_vld_vssl(8, places + i, l);
            __vr vx = _vel_vfmuld_vsvl(0.5, _vel_vld_vssl(8, x + i, l), l);
            _vel_vsc_vvssl(vx, _vel_vsfa_vvssl(at, 3, (unsigned long)y, l), 0, 0, l);
        }
}
#else
#define BARRIER __asm__ volatile("" ::: "memory")

void copy(long repeats, double *restrict y, double *restrict z, double *w)
{
    (void)w;
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < LENGTH; i++)
            y[i] = z[i];
        BARRIER;
    }
}

void gather(long repeats, double *restrict y, double *restrict z, long *restrict places)
{
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < LENGTH; i++)
            y[i] = z[places[i]];
        BARRIER;
    }
}

void axpy(long repeats, long n, double a, double *restrict x, double *restrict y)
{
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < n; i++)
            y[i] = __builtin_fma(a, x[i], y[i]);
        BARRIER;
    }
}

double dot(long repeats, long n, double *x, double *y)
{
    double total = 0;
    for (long r = 0; r < repeats; r++) {
        double sum[8] = {0};
        for (long i = 0; i + 8 <= n; i += 8)
            for (long k = 0; k < 8; k++)
                sum[k] = __builtin_fma(x[i + k], y[i + k], sum[k]);
        for (long k = 0; k < 8; k++)
            total += sum[k];
        BARRIER;
    }
    return total;
}

void dgemm(long repeats, double *restrict a, double *restrict b, double *restrict c)
{
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < SIDE; i++) {
            for (long j = 0; j < SIDE; j++)
                c[i * SIDE + j] = 0;
            for (long k = 0; k < SIDE; k++)
                for (long j = 0; j < SIDE; j++)
                    c[i * SIDE + j] =
                        __builtin_fma(a[i * SIDE + k], b[k * SIDE + j], c[i * SIDE + j]);
        }
        BARRIER;
    }
}

void stencil(long repeats, double *restrict from, double *restrict to)
{
    for (long r = 0; r < repeats; r++) {
        for (long i = 1; i < GRID - 1; i++)
            for (long j = 1; j < GRID - 1; j++) {
                double *at = from + i * GRID + j;
                to[i * GRID + j] = 0.25 * ((at[-1] + at[1]) + (at[-GRID] + at[GRID]));
            }
        BARRIER;
    }
}

void convolve(long repeats, float *restrict image, float *restrict weights, float *restrict to)
{
    for (long r = 0; r < repeats; r++) {
        for (long m = 0; m < MAPS; m++)
            for (long i = 0; i < ROWS; i++) {
                float *row = to + (m * ROWS + i) * PITCH;
                for (long j = 0; j < WIDTH; j++)
                    row[j] = 0;
                for (long c = 0; c < PLANES; c++)
                    for (long k = 0; k < 3; k++) {
                        const float *at = image + (c * (ROWS + 2) + i + k) * PITCH;
                        const float *w = weights + (m * PLANES + c) * 9 + k * 3;
                        for (long j = 0; j < WIDTH; j++)
                            row[j] =
                                __builtin_fmaf(w[2], at[j + 2],
                                               __builtin_fmaf(w[1], at[j + 1],
                                                              __builtin_fmaf(w[0], at[j], row[j])));
                    }
            }
        BARRIER;
    }
}

void convolve_packed(long repeats, float *image, float *weights, float *to)
{
    convolve(repeats, image, weights, to);
}

#define LOOP(value) \
    for (long r = 0; r < repeats; r++) { \
        for (long i = 0; i < n; i++) \
            value; \
        BARRIER; \
    }

void integers(long repeats, long n, int *restrict x, double *restrict y)
{
    LOOP(y[i] = 0.5 * x[i])
}

void truncated(long repeats, long n, double *restrict x, int *restrict y)
{
    LOOP(y[i] = (int)(1000.0 * x[i]))
}

void narrowed(long repeats, long n, double *restrict x, float *restrict y)
{
    LOOP(y[i] = (float)x[i])
}

void chosen(long repeats, long n, double limit, double *restrict x, double *restrict y)
{
    LOOP(y[i] = x[i] > limit ? x[i] : 0.5 * (x[i] + y[i]))
}

void largest(long repeats, long n, double limit, double *restrict x, double *restrict y)
{
    LOOP(y[i] += x[i] > limit ? x[i] : limit)
}

void gathered(long repeats, long n, long *restrict places, double *restrict x, double *restrict y)
{
    LOOP(y[i] = __builtin_fma(0.5, x[places[i]], y[i]))
}

void scattered(long repeats, long n, long *restrict places, double *restrict x, double *restrict y)
{
    LOOP(y[places[i]] = 0.5 * x[i])
}
#endif
