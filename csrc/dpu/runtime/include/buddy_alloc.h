/* SPDX-License-Identifier: BSD-3-Clause */
/* buddy_alloc.h: memory that can be freed, in blocks of 16, 32, 64, ... bytes. */
#ifndef DPU_RUNTIME_BUDDY_ALLOC_H
#define DPU_RUNTIME_BUDDY_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Takes SIZE_OF_HEAP bytes, a power of two up to 32768, from the heap for the functions below. To
 * be called once, before any of them. A heap that is full is fault 1.
 */
void buddy_init(size_t size_of_heap);
/* Frees all blocks. */
void buddy_reset(void);
/* A block of at least SIZE bytes, aligned to 8; NULL and errno EINVAL or ENOMEM if there is none.
 */
void *buddy_alloc(size_t size);
/* Frees the block that POINTER points into; NULL is ignored, anything else sets errno to EINVAL. */
void buddy_free(void *pointer);
/*
 * A block of SIZE bytes with what PTR's block held; PTR's block is free then, but not if there is
 * no memory. For NULL it is buddy_alloc(); SIZE 0 frees the block and returns PTR.
 */
void *buddy_realloc(void *ptr, size_t size);

#ifdef __cplusplus
}
#endif

#endif
