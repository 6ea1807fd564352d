/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_blocks.h: blocks of memory that kernels may access, in a list that the worker reads, if
 * VEO_CHECK is set: those of the VE heap and stack arguments. Without it nothing happens.
 *
 * With the memory's lock.
 */
#ifndef VEOLIB_MEMORY_BLOCKS_H
#define VEOLIB_MEMORY_BLOCKS_H

#include "veo/lib/memory.h"

/* Makes the list in the wire; the header says where it is. False without memory. */
bool veolib_blocks_new(struct veolib_memory *memory);

void veolib_blocks_add(struct veolib_memory *memory, uint64_t address, uint64_t size);
/* Takes out what starts in a range. */
void veolib_blocks_remove(struct veolib_memory *memory, uint64_t start, uint64_t size);

#endif
