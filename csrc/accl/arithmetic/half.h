/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of float16. float32 is rounded to nearest even, as F16C and NumPy do. Pure functions; the
 * processor's own conversions are used where it has them, with the same results.
 */
#ifndef ACCL_HALF_H
#define ACCL_HALF_H

#include <stddef.h>
#include <stdint.h>

void acclib_half_narrow(uint16_t *to, const float *from, size_t n);
void acclib_half_widen(float *to, const uint16_t *from, size_t n);

/* The same as narrowing and widening again. TO may be FROM. */
void acclib_half_round(float *to, const float *from, size_t n);

/* Portable versions, for tests. */
void acclib_half_narrow_plain(uint16_t *to, const float *from, size_t n);
void acclib_half_widen_plain(float *to, const uint16_t *from, size_t n);

#endif
