/* SPDX-License-Identifier: BSD-3-Clause */
/* fsb_allocator.h: blocks of one size, taken and given back in constant time. */
#ifndef DPU_RUNTIME_FSB_ALLOCATOR_H
#define DPU_RUNTIME_FSB_ALLOCATOR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Points to the pointer to the first free block, in which the pointer to the next one is. */
typedef void **fsb_allocator_t;

/* NB_OF_BLOCKS blocks of BLOCK_SIZE bytes, rounded up to 8. A heap that is full is fault 1. */
fsb_allocator_t fsb_alloc(unsigned int block_size, unsigned int nb_of_blocks);
/* A block, or NULL if none is free. */
void *fsb_get(fsb_allocator_t allocator);
void fsb_free(fsb_allocator_t allocator, void *ptr);

#ifdef __cplusplus
}
#endif

#endif
