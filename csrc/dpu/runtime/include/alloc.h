/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.h: memory from the heap, the WRAM that the program leaves free. */
#ifndef DPU_RUNTIME_ALLOC_H
#define DPU_RUNTIME_ALLOC_H

#include <stddef.h>

#include <buddy_alloc.h>
#include <fsb_allocator.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer of SIZE bytes, aligned to 8, that nobody else has; there is no way to give it back but
 * mem_reset(). A heap that is full is fault 1.
 */
void *mem_alloc(size_t size);

/* Empties the heap, and returns its start. The heap stays as it is from one launch to the next. */
void *mem_reset(void);

#ifdef __cplusplus
}
#endif

#endif
