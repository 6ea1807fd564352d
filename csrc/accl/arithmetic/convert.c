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

/* With the source, less than half of a second cache. */
#define PIECE_BYTES (UINT64_C(64) << 10)

void acclib_convert_copies(const struct converted *made, const void *from, uint32_t from_type,
                           bool via16)
{
    size_t size = acclib_dtype_bytes(made->type), from_size = acclib_dtype_bytes(from_type);
    bool has_copies = made->copy != NULL || made->source_copy != NULL;
    size_t step = has_copies && copy_is_settled(made->copied) ? PIECE_BYTES / size : made->n;
    for (size_t at = 0; at < made->n; at += step) {
        size_t n = made->n - at < step ? made->n - at : step;
        const uint8_t *piece = (const uint8_t *)from + at * from_size;
        uint8_t *to = made->to + at * size;
        acclib_convert_piece(to, made->type, piece, from_type, n, made->n, via16);
        if (made->copy != NULL)
            copy_piece(made->copy + at * size, to, n * size, made->copied);
        if (made->source_copy != NULL)
            copy_piece(made->source_copy + at * from_size, piece, n * from_size, made->copied);
    }
}
