/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between element types. Pure functions. */
#ifndef ACCL_CONVERT_H
#define ACCL_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies N elements. The types are equal, or float32 and float16. With VIA16, float32 elements are
 * rounded to float16 on the way. The ranges are disjoint or identical.
 */
void acclib_convert(void *to, uint32_t to_type, const void *from, uint32_t from_type, size_t n,
                    bool via16);

/* The same for N elements of WHOLE that are copied in pieces. */
void acclib_convert_piece(void *to, uint32_t to_type, const void *from, uint32_t from_type,
                          size_t n, size_t whole, bool via16);

/* N elements of TYPE at TO, and their copies, each of which may be NULL: that of what is at TO, and
 * that of the elements before they were converted. Both are parts of COPIED bytes. */
struct converted {
    uint8_t *to, *copy, *source_copy;
    uint64_t copied;
    uint32_t type;
    size_t n;
};

/* As acclib_convert(), and copies what was read and written while it is in a near cache. */
void acclib_convert_copies(const struct converted *made, const void *from, uint32_t from_type,
                           bool via16);

#endif
