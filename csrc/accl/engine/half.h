/* SPDX-License-Identifier: BSD-3-Clause */
/* float16 by the array. */
#ifndef ACCL_HALF_H
#define ACCL_HALF_H

#include "accl/engine/engine.h"

void half_narrow(uint16_t *to, const float *from, size_t n);
void half_widen(float *to, const uint16_t *from, size_t n);
/* What narrowing and widening again gives. */
void half_round(float *to, const float *from, size_t n);
/* Without the processor's own conversions. */
void half_narrow_plain(uint16_t *to, const float *from, size_t n);
void half_widen_plain(float *to, const uint16_t *from, size_t n);

#endif
