/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/dtype.h"

#include "accl.h"

#define FACTS(name, value, bytes, text, arithmetic) [value] = {bytes, ACCL_ARITHMETIC_##arithmetic},
const struct dtype_facts acclib_dtypes[DTYPES] = {ACCL_DTYPE_LIST(FACTS)};

const char *acclib_dtype_name(uint32_t dtype)
{
    switch (dtype) {
#define NAME_CASE(name, value, bytes, text, arithmetic) \
    case value: return text;
        ACCL_DTYPE_LIST(NAME_CASE)
    default: return "an unknown type";
    }
}

uint64_t acclib_dtype_segment(uint32_t dtype, uint64_t most)
{
    uint64_t unit = acclib_dtype_bytes(dtype) > 8 ? acclib_dtype_bytes(dtype) : 8;
    return most < unit ? unit : most - most % unit;
}
