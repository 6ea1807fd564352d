/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which an allreduce adds its operands: that of the original's ring, whatever the
 * transport, so that results are equal bit by bit. Pure functions.
 */
#ifndef ACCL_ORDER_H
#define ACCL_ORDER_H

#include <stdint.h>

/* A vector of COUNT elements that N ranks reduce in segments of SEGMENT elements. */
struct order {
    uint64_t count, n, segment;
};

/* SEGMENT_BYTES is the configured segment size, SIZE that of an element on the wire. */
struct order acclib_order_of(uint64_t count, uint32_t n, uint64_t segment_bytes, uint64_t size);

/* The rank whose operand comes first for ELEMENT, and in *RUN for how many elements from there. */
uint32_t acclib_order_first(const struct order *order, uint64_t element, uint64_t *run);

#endif
