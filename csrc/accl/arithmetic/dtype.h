/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Element types: enum accl_dtype of accl.h. Pure functions.
 */
#ifndef ACCL_DTYPE_H
#define ACCL_DTYPE_H

#include <stddef.h>
#include <stdint.h>

/* Size of an element in bytes; 0 for an unknown type. */
size_t acclib_dtype_bytes(uint32_t dtype);

/* The name that messages use, "an unknown type" for others. Static. */
const char *acclib_dtype_name(uint32_t dtype);

#endif
