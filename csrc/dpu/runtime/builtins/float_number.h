/* SPDX-License-Identifier: BSD-3-Clause */
/* float_number.h: single precision by the names that the routines of both precisions use
 * (number_*.inc). */
#ifndef DPU_RUNTIME_FLOAT_NUMBER_H
#define DPU_RUNTIME_FLOAT_NUMBER_H

#include "float_parts.h"

typedef uint32_t number_t;
typedef int32_t signed_number_t;
#define ROUTINE(before, after) RUNTIME(before##sf##after)
#define FRACTION_BITS 23
#define EXPONENT_BIAS 127
#define EXPONENT_MAX 255 /* of infinities and NaNs */
#define SIGN FLOAT_SIGN
#define NUMBER_INFINITY FLOAT_INFINITY
#define NUMBER_QUIET FLOAT_QUIET
#define NUMBER_NAN FLOAT_NAN
#define NUMBER_IMPLICIT FLOAT_IMPLICIT
#define NUMBER_FRACTION FLOAT_FRACTION
#define number_exponent float_exponent
#define number_normalise float_normalise
#define IS_NEGATIVE(a) ((int32_t)(a) < 0)

#endif
