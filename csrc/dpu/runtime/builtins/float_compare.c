/* SPDX-License-Identifier: BSD-3-Clause */
/* float_compare.c: comparisons and the change of sign, single precision. */
#include "float_number.h"

#include "number_compare.inc"
