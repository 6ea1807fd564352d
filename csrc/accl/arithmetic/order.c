/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/order.h"

struct order acclib_order_of(uint64_t count, uint32_t n, uint64_t segment_bytes, uint64_t size)
{
    uint64_t segment = segment_bytes / size / n * n;
    return (struct order){.count = count, .n = n, .segment = segment ? segment : n};
}

uint32_t acclib_order_first(const struct order *order, uint64_t element, uint64_t *run)
{
    uint64_t start = element / order->segment * order->segment;
    uint64_t left_of_vector = order->count - start;
    uint64_t length = left_of_vector < order->segment ? left_of_vector : order->segment;

    /* Each rank starts the sum of one bulk of the segment. */
    uint64_t bulk = (length + order->n - 1) / order->n;
    uint64_t in_bulk = (element - start) % bulk;
    uint64_t left = start + length - element;

    *run = bulk - in_bulk < left ? bulk - in_bulk : left;

    return (uint32_t)((element - start) / bulk);
}
