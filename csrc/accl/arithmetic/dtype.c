/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/dtype.h"

#include "accl.h"

size_t acclib_dtype_bytes(uint32_t dtype)
{
    switch (dtype) {
#define BYTES_CASE(name, value, bytes, text) \
    case value: return bytes;
        ACCL_DTYPE_LIST(BYTES_CASE)
    default: return 0;
    }
}

const char *acclib_dtype_name(uint32_t dtype)
{
    switch (dtype) {
#define NAME_CASE(name, value, bytes, text) \
    case value: return text;
        ACCL_DTYPE_LIST(NAME_CASE)
    default: return "an unknown type";
    }
}
