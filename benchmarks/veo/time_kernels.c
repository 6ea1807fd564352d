/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time_kernels.c: loops whose times on a Vector Engine were published, written with intrinsics as
 * its compiler vectorises them. Arrays are of doubles; STRIP is the length of vectors.
 */
#include <velintrin.h>

#define LOAD(p) _vel_vld_vssl(8, p, vl)
#define STORE(v, p) _vel_vst_vssl(v, 8, p, vl)

#define LOOP(name, body) \
    void name(const double *a, double *b, const int *index, long rows, long strips, long strip) \
    { \
        const int vl = (int)strip; \
        for (long j = 0; j < rows; j++) \
            for (long i = 0; i < strips; i++, a += strip, b += strip) { \
                body \
            } \
        (void)index; \
    }

LOOP(add, STORE(_vel_vfaddd_vvvl(LOAD(b), LOAD(a), vl), b);)
LOOP(multiply, STORE(_vel_vfmuld_vvvl(LOAD(b), LOAD(a), vl), b);)
LOOP(multiply_add, __vr x = LOAD(a); STORE(_vel_vfmadd_vvvvl(LOAD(b), x, x, vl), b);)
LOOP(masked, __vr x = LOAD(a); __vr y = LOAD(b); __vm256 m = _vel_vfmkdgt_mvl(x, vl);
     STORE(_vel_vfaddd_vvvmvl(y, x, m, y, vl), b);)
LOOP(copy, STORE(LOAD(a), b);)
LOOP(half_sum, STORE(_vel_vfmuld_vsvl(0.5, _vel_vfaddd_vvvl(LOAD(b), LOAD(a), vl), vl), b);)
LOOP(scaled_sum, STORE(_vel_vfaddd_vvvl(_vel_vfmuld_vsvl(0.99, LOAD(b), vl), LOAD(a), vl), b);)
LOOP(squares, __vr x = LOAD(a); __vr y = LOAD(b);
     STORE(_vel_vfaddd_vvvl(_vel_vfmuld_vvvl(x, x, vl), _vel_vfmuld_vvvl(y, y, vl), vl), b);)
/* B -= A * A, of two arrays into a third. */
LOOP(three_streams, __vr x = LOAD(a); STORE(_vel_vfnmsbd_vvvvl(LOAD(b), x, x, vl), b);)

#define ADDRESSES(p) _vel_vsfa_vvssl(_vel_vldlzx_vssl(4, index, vl), 3, (unsigned long)(p), vl)
LOOP(gather, STORE(_vel_vfaddd_vvvl(LOAD(b), _vel_vgt_vvssl(ADDRESSES(a), 0, 0, vl), vl), b);)
LOOP(scatter, _vel_vsc_vvssl(_vel_vfaddd_vvvl(LOAD(b), LOAD(a), vl), ADDRESSES(b), 0, 0, vl);)
LOOP(gather_scatter, __vr at = ADDRESSES(b);
     _vel_vsc_vvssl(_vel_vfaddd_vvvl(_vel_vgt_vvssl(at, 0, 0, vl), LOAD(a), vl), at, 0, 0, vl);)

/* The sum of all, of which the strips are one vector. */
void sum(const double *a, double *b, const int *index, long rows, long strips, long strip)
{
    const int vl = (int)strip;
    __vr total = _vel_vbrdd_vsl(0, vl);
    for (long i = 0; i < rows * strips; i++, a += strip)
        total = _vel_vfaddd_vvvl(total, LOAD(a), vl);
    *b = _vel_lvsd_svs(_vel_vfsumd_vvl(total, vl), 0);
    (void)index;
}

/* B += C * C, where C is one row: it is loaded for each row, and for a strip once. */
void row_each(const double *a, double *b, const int *index, long rows, long strips, long strip)
{
    const int vl = (int)strip;
    for (long j = 0; j < rows; j++)
        for (long i = 0; i < strips; i++, b += strip) {
            __vr x = LOAD(a + i * strip);
            STORE(_vel_vfmadd_vvvvl(LOAD(b), x, x, vl), b);
        }
    (void)index;
}

void row_once(const double *a, double *b, const int *index, long rows, long strips, long strip)
{
    const int vl = (int)strip;
    for (long i = 0; i < strips; i++, a += strip) {
        __vr x = LOAD(a);
        double *to = b + i * strip;
        for (long j = 0; j < rows; j++, to += strips * strip)
            STORE(_vel_vfmadd_vvvvl(LOAD(to), x, x, vl), to);
    }
    (void)index;
}

/* B += A * A, and B += A + A of the row before. */
void two_loops(const double *a, double *b, const int *index, long rows, long strips, long strip)
{
    const int vl = (int)strip;
    const long row = strips * strip;
    multiply_add(a, b, index, rows, strips, strip);
    for (long i = row; i < (rows - 1) * row; i += strip)
        STORE(
            _vel_vfaddd_vvvl(LOAD(b + i), _vel_vfaddd_vvvl(LOAD(a + i), LOAD(a + i - row), vl), vl),
            b + i);
}

/* Eight rows of C, of 256 elements, += A * B, for ROWS columns of A. */
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
void product(const double *a, double *b, const int *index, long rows, long strips, long strip)
{
    const int vl = (int)strip;
#define BEGIN(n) __vr c##n = _vel_vbrdd_vsl(0, vl);
#define ADD(n) c##n = _vel_vfmadd_vvsvl(c##n, a[8 * k + (n)], x, vl);
#define END(n) STORE(c##n, b + (n) * strip);
    for (long i = 0; i < strips; i++) {
        EIGHT(BEGIN)
        for (long k = 0; k < rows; k++) {
            __vr x = LOAD(b);
            EIGHT(ADD)
        }
        EIGHT(END)
    }
    (void)index;
}
