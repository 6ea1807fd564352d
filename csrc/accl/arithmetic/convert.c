/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/convert.h"

#include "accl.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/half.h"
#include "common/copy.h"

void acclib_convert(void *to, uint32_t to_type, const void *from, uint32_t from_type, size_t n,
                    bool via16)
{
    acclib_convert_piece(to, to_type, from, from_type, n, n, via16);
}

void acclib_convert_piece(void *to, uint32_t to_type, const void *from, uint32_t from_type,
                          size_t n, size_t whole, bool via16)
{
    size_t size = acclib_dtype_bytes(to_type);
    if (n == 0)
        return;
    if (to_type == from_type) {
        if (via16 && to_type == ACCL_FLOAT32)
            acclib_half_round(to, from, n);
        else if (to != from)
            copy_piece(to, from, n * size, whole * size);
    } else if (to_type == ACCL_FLOAT16) {
        acclib_half_narrow(to, from, n);
    } else {
        acclib_half_widen(to, from, n);
    }
}
