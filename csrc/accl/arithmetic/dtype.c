/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/dtype.h"

#include "accl.h"

size_t acclib_dtype_bytes(uint32_t dtype)
{
    switch (dtype) {
#define BYTES_CASE(name, value, bytes, text, arithmetic) \
    case value: return bytes;
        ACCL_DTYPE_LIST(BYTES_CASE)
    default: return 0;
    }
}

const char *acclib_dtype_name(uint32_t dtype)
{
    switch (dtype) {
#define NAME_CASE(name, value, bytes, text, arithmetic) \
    case value: return text;
        ACCL_DTYPE_LIST(NAME_CASE)
    default: return "an unknown type";
    }
}

enum accl_arithmetic acclib_dtype_arithmetic(uint32_t dtype)
{
    switch (dtype) {
#define ARITHMETIC_CASE(name, value, bytes, text, arithmetic) \
    case value: return ACCL_ARITHMETIC_##arithmetic;
        ACCL_DTYPE_LIST(ARITHMETIC_CASE)
    default: return ACCL_ARITHMETIC_NONE;
    }
}

size_t acclib_dtype_alignment(uint32_t dtype)
{
    return dtype <= ACCL_INT64 ? acclib_dtype_bytes(dtype) : 1;
}

uint64_t acclib_dtype_segment(uint32_t dtype, uint64_t most)
{
    uint64_t unit = acclib_dtype_bytes(dtype) > 8 ? acclib_dtype_bytes(dtype) : 8;
    return most < unit ? unit : most - most % unit;
}
