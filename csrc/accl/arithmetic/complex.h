/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of complex numbers, at any address: TO may be A or B. Each part is the difference, or
 * the sum, of two rounded products, so that all processors give the same bits. Pure functions; the
 * processor must have the instructions that the name ends with.
 */
#ifndef ACCL_COMPLEX_H
#define ACCL_COMPLEX_H

#include <stddef.h>

#define COMPLEX_PRODUCTS(suffix) \
    void acclib_prod_complex_float##suffix(void *to, const void *a, const void *b, size_t n); \
    void acclib_prod_complex_double##suffix(void *to, const void *a, const void *b, size_t n);

COMPLEX_PRODUCTS(_base)
COMPLEX_PRODUCTS(_avx2)
COMPLEX_PRODUCTS(_avx512)

#endif
