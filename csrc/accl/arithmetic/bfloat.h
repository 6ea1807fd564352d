/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of bfloat16, the upper half of float32, at any address. float32 is rounded to nearest
 * even; a NaN stays one, and becomes a quiet one. Pure functions.
 */
#ifndef ACCL_BFLOAT_H
#define ACCL_BFLOAT_H

#include <stddef.h>

void acclib_bfloat_narrow(void *to, const float *from, size_t n);
void acclib_bfloat_widen(float *to, const void *from, size_t n);

/* The same as narrowing and widening again. TO may be FROM. */
void acclib_bfloat_round(float *to, const float *from, size_t n);

#endif
