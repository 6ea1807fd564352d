/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Element types: enum accl_dtype of accl.h. Pure functions.
 */
#ifndef ACCL_DTYPE_H
#define ACCL_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "accl.h"

/* The table of accl.h by number; what is not in it is 0. A larger number does not compile. */
#define DTYPES 137
struct dtype_facts {
    uint8_t bytes, arithmetic;
};
extern const struct dtype_facts acclib_dtypes[DTYPES];

/* Size of an element in bytes; 0 for an unknown type. */
static inline size_t acclib_dtype_bytes(uint32_t dtype)
{
    return dtype < DTYPES ? acclib_dtypes[dtype].bytes : 0;
}

/* The name that messages use, "an unknown type" for others. Static. */
const char *acclib_dtype_name(uint32_t dtype);

/* How elements are combined. */
static inline enum accl_arithmetic acclib_dtype_arithmetic(uint32_t dtype)
{
    return dtype < DTYPES ? (enum accl_arithmetic)acclib_dtypes[dtype].arithmetic
                          : ACCL_ARITHMETIC_NONE;
}

/* Alignment of elements in bytes; 0 for ACCL_NONE. */
static inline size_t acclib_dtype_alignment(uint32_t dtype)
{
    return dtype <= ACCL_INT64 ? acclib_dtype_bytes(dtype) : 1;
}

/* Bytes of a segment of MOST, 8 or more: whole elements, at least one. */
uint64_t acclib_dtype_segment(uint32_t dtype, uint64_t most);

#endif
