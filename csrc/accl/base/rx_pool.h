/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of rx buffers, which keep messages until they are received.
 *
 * The pool is in its rank's memory file, where senders take idle buffers. The file also says where
 * it is, but other processes may write there: a struct pool is what was true when the pool was
 * made, or what was checked when its rank was met.
 */
#ifndef ACCL_RX_POOL_H
#define ACCL_RX_POOL_H

#include <stdint.h>

struct heap;
struct arena_header;

struct pool {
    struct rx_slot *slots;
    uint8_t *data;
    uint64_t slot_bytes;
    uint32_t slot_count;
};

/*
 * Makes a pool of COUNT buffers of BYTES in HEAP, in place of the one that POOL is, and shows it in
 * HEADER. Before other ranks know the file. A status of accl.h; on failure nothing has changed.
 */
int acclib_rx_pool_make(struct heap *heap, struct arena_header *header, uint32_t count,
                        uint64_t bytes, struct pool *pool);

#endif
