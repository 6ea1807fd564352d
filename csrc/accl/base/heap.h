/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory file of a rank, and the blocks in it.
 *
 * A heap lives until the device and all buffers are gone: each holds a reference. acclib_heap_get()
 * and acclib_heap_put() may be called by several threads; the heap has a lock of its own. Blocks
 * start at multiples of the page size, and are named by their offset in the file. Device addresses
 * are ADDRESS_BASE + offset.
 */
#ifndef ACCL_HEAP_H
#define ACCL_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_BASE UINT64_C(0x100000000)

struct heap {
    _Atomic uint32_t refs;
    int fd;
    uint8_t *base; /* the mapping */
    uint64_t bytes;
    pthread_mutex_t lock;
    struct range_alloc *ranges;
    _Atomic uint32_t *pages; /* by page of the file: first page of its block + 1, 0 if free */
    uint8_t *held; /* by page, in bits: whether the block that starts there is kept for good */
    _Atomic uint32_t
        *hosts; /* by first page of a block: that of the host's pages for it + 1, or 0 */
    uint64_t page_count;
    uint8_t *huge;       /* by huge page of the file: whether it is one */
    bool no_huge;        /* the system makes none */
    unsigned fork_count; /* of the process that made it */
};

/*
 * BYTES of 0 stands for the default, or less if the limits of this process allow no more. NULL with
 * errno if the file cannot be had.
 */
struct heap *acclib_heap_open(uint64_t bytes);
/* Limits of this process that a heap may have met, for error texts: " (ulimit ...)" or "". */
const char *acclib_heap_limits(void);
/* One more reference: HEAP. Any thread, as acclib_heap_release(). */
struct heap *acclib_heap_share(struct heap *heap);
void acclib_heap_release(struct heap *heap);

/* Offset of a block of BYTES that is backed by memory; 0 if out of memory. */
uint64_t acclib_heap_get(struct heap *heap, uint64_t bytes);
void acclib_heap_put(struct heap *heap, uint64_t offset);

/* Keeps the block around OFFSET for good, as others may write there: acclib_heap_put() does nothing
 * for it. */
void acclib_heap_hold(struct heap *heap, uint64_t offset);

/* The block at HOST has the host's pages of the one at OFFSET, from now on or, with 0, no longer.
 */
void acclib_heap_set_host(struct heap *heap, uint64_t offset, uint64_t host);
/* The host's page for MEMORY, which is in a block; NULL if that has none, or MEMORY is NULL. */
uint8_t *acclib_heap_host(const struct heap *heap, const uint8_t *memory);

/* Bytes in use. */
uint64_t acclib_heap_used(struct heap *heap);

static inline uint64_t heap_offset(const struct heap *heap, const void *memory)
{
    return (uint64_t)((const uint8_t *)memory - heap->base);
}

/* True if [address, address + bytes) is inside one allocated block. */
bool acclib_heap_valid(const struct heap *heap, uint64_t address, uint64_t bytes);

/* True if the file of FD is sealed against shrinking. */
bool acclib_heap_is_sealed(int fd);

#endif
