/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h: the memory that a VE process shares with the host, and which parts of it are in use.
 *
 * One memory file holds a header, the wire (queues, argument blocks) and the VE heap. All records
 * about free and used blocks are in private memory of the host, so kernels cannot damage them.
 *
 * Threads: veolib_memory_map() and veolib_memory_unmap() are called by one thread while no other
 * uses the memory; the rest may be called by any thread and take the memory's lock, which is the
 * last in the order of locks.
 */
#ifndef VEOLIB_MEMORY_H
#define VEOLIB_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/wire.h"

struct range_alloc;

struct veolib_memory {
    struct wire_header *header; /* start of the mapping; NULL: not mapped */
    size_t mapped;              /* its size in bytes */
    int fd;                     /* of the file, -1: none */
    uint64_t heap;
    uint64_t heap_size;
    pthread_mutex_t lock; /* of the two allocators */
    struct range_alloc *wire_ranges;
    struct range_alloc *heap_ranges;
    struct wire_blocks *blocks; /* NULL: nobody asks for them (memory_blocks.h) */
    size_t block_count;
};

/* Prepares a structure of zeros, once. */
void veolib_memory_init(struct veolib_memory *memory);

/*
 * Creates and maps the file. VEO_SOFT_MEMORY sets the size of the heap. The header's version and
 * heap are filled in. False (error set) on failure.
 */
bool veolib_memory_map(struct veolib_memory *memory);

/* Unmaps and closes the file; nothing happens if it is not mapped. */
void veolib_memory_unmap(struct veolib_memory *memory);

/* Allocates a block of the wire; 0 if there is none. */
uint64_t veolib_wire_get(struct veolib_memory *memory, size_t size);
void veolib_wire_put(struct veolib_memory *memory, uint64_t block);

/* Kernels may access a part of a block of the wire, until it is freed. */
void veolib_wire_open(struct veolib_memory *memory, uint64_t address, size_t size);

/* True if all of [ADDR, ADDR + SIZE) is in the VE heap. */
bool veolib_heap_contains(const struct veolib_memory *memory, uint64_t addr, size_t size);

/* Allocates a block of the VE heap; 0 if there is none, or if the machine lacks the memory. */
uint64_t veolib_heap_get(struct veolib_memory *memory, size_t size);

/* Frees the block that starts at ADDR. False if there is none. */
bool veolib_heap_put(struct veolib_memory *memory, uint64_t addr);

/* True if an allocated block of the heap starts at ADDR. */
bool veolib_heap_owns(struct veolib_memory *memory, uint64_t addr);

/* Bytes of the heap that are allocated. */
size_t veolib_heap_used(struct veolib_memory *memory);

#endif
