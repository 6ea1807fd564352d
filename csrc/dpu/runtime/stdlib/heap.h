/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h: the heap, for the allocators that take memory from it. */
#ifndef DPU_RUNTIME_HEAP_H
#define DPU_RUNTIME_HEAP_H

#include <atomic_bit.h>
#include <stddef.h>
#include <stdint.h>

ATOMIC_BIT_EXTERN(__heap_pointer);

/* SIZE bytes aligned to ALIGNMENT, a power of two of at least 8, while the bit above is held. */
void *__heap_take(size_t size, size_t alignment);
/* The same, aligned to 8, under the name that older programs know. */
void *mem_alloc_nolock(size_t size);

#endif
