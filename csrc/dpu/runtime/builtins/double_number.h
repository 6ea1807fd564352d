/* SPDX-License-Identifier: BSD-3-Clause */
/* double_number.h: double precision by the names that the routines of both precisions use
 * (number_*.inc). */
#ifndef DPU_RUNTIME_DOUBLE_NUMBER_H
#define DPU_RUNTIME_DOUBLE_NUMBER_H

#include "double_parts.h"

typedef uint64_t number_t;
typedef int64_t signed_number_t;
#define ROUTINE(before, after) RUNTIME(before##df##after)
#define FRACTION_BITS 52
#define EXPONENT_BIAS 1023
#define EXPONENT_MAX 2047 /* of infinities and NaNs */
#define SIGN DOUBLE_SIGN
#define NUMBER_INFINITY DOUBLE_INFINITY
#define NUMBER_QUIET DOUBLE_QUIET
#define NUMBER_NAN DOUBLE_NAN
#define NUMBER_IMPLICIT DOUBLE_IMPLICIT
#define NUMBER_FRACTION DOUBLE_FRACTION
#define number_exponent double_exponent
#define number_normalise double_normalise
#define IS_NEGATIVE(a) ((int32_t)high_word(a) < 0)

#endif
