/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Element types: enum accl_dtype of accl.h. Pure functions.
 */
#ifndef ACCL_DTYPE_H
#define ACCL_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "accl.h"

/* Size of an element in bytes; 0 for an unknown type. */
size_t acclib_dtype_bytes(uint32_t dtype);

/* The name that messages use, "an unknown type" for others. Static. */
const char *acclib_dtype_name(uint32_t dtype);

/* How elements are combined. */
enum accl_arithmetic acclib_dtype_arithmetic(uint32_t dtype);

/* Alignment of elements in bytes; 0 for ACCL_NONE. */
size_t acclib_dtype_alignment(uint32_t dtype);

/* Bytes of a segment of MOST, 8 or more: whole elements, at least one. */
uint64_t acclib_dtype_segment(uint32_t dtype, uint64_t most);

#endif
