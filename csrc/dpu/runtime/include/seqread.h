/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seqread.h: reading MRAM from front to back through a window in WRAM.
 *
 * The window is two pages of SEQREAD_CACHE_SIZE bytes. A pointer into it stays in the first page:
 * an item that starts there, and is not larger than a page, is there as a whole.
 */
#ifndef DPU_RUNTIME_SEQREAD_H
#define DPU_RUNTIME_SEQREAD_H

#include <macro_utils.h>
#include <mram.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SEQREAD_CACHE_SIZE
#define SEQREAD_CACHE_SIZE 256
#endif

_Static_assert(SEQREAD_CACHE_SIZE == 32 || SEQREAD_CACHE_SIZE == 64 || SEQREAD_CACHE_SIZE == 128 ||
                   SEQREAD_CACHE_SIZE == 256 || SEQREAD_CACHE_SIZE == 512 ||
                   SEQREAD_CACHE_SIZE == 1024,
               "SEQREAD_CACHE_SIZE is 32, 64, 128, 256, 512 or 1024");

/* The window, from seqread_alloc(). */
typedef uintptr_t seqreader_buffer_t;

typedef struct {
    seqreader_buffer_t wram_cache;
    uintptr_t mram_addr; /* of the first byte in the window */
} seqreader_t;

#define __DPU_SEQREAD(suffix) __CONCAT(__CONCAT(seqread, SEQREAD_CACHE_SIZE), suffix)

/* Takes a window from the heap; it serves any number of readers, one after another. */
#define seqread_alloc __DPU_SEQREAD(_alloc)
seqreader_buffer_t seqread_alloc(void);

/* Starts to read at MRAM_ADDR, of any alignment; returns where that byte is in the window. */
#define seqread_init __DPU_SEQREAD(_init)
void *seqread_init(seqreader_buffer_t cache, __mram_ptr void *mram_addr, seqreader_t *reader);

/* Reads on, so that the page with PTR is the first one; returns where the same byte is then. */
void *__DPU_SEQREAD(_reload)(void *ptr, seqreader_t *reader);

/* Goes on by INC bytes, less than a page, and returns where the item is. */
#define seqread_get __DPU_SEQREAD(_get)
static inline __attribute__((always_inline, unused)) void *seqread_get(void *ptr, uint32_t inc,
                                                                       seqreader_t *reader)
{
    uintptr_t next = (uintptr_t)ptr + inc;

    /* Windows are aligned to their pages, so that a crossing shows in the address. */
    if (__builtin_expect(((next ^ (uintptr_t)ptr) & SEQREAD_CACHE_SIZE) == 0, 1))
        return (void *)next;
    return __DPU_SEQREAD(_reload)((void *)next, reader);
}

/* Goes to MRAM_ADDR, forwards or backwards. */
#define seqread_seek __DPU_SEQREAD(_seek)
void *seqread_seek(__mram_ptr void *mram_addr, seqreader_t *reader);

/* The address in MRAM of what PTR points to in the window. */
#define seqread_tell __DPU_SEQREAD(_tell)
__mram_ptr void *seqread_tell(void *ptr, seqreader_t *reader);

#ifdef __cplusplus
}
#endif

#endif
