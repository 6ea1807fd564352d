/* SPDX-License-Identifier: BSD-3-Clause */
/* double_compare.c: comparisons and the change of sign, double precision. */
#include "double_number.h"

#include "number_compare.inc"
