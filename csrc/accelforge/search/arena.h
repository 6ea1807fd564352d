/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h: memory that is released all at once.
 */
#ifndef OFFCHIP_FORGE_ARENA_H
#define OFFCHIP_FORGE_ARENA_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

struct forge_arena_chunk {
    struct forge_arena_chunk *next;
    size_t used;
    size_t room;
    alignas(max_align_t) char bytes[]; /* what is not used is zero */
};

struct forge_arena {
    struct forge_arena_chunk *chunks; /* NULL: empty; the newest first */
};

/* BYTES of a new chunk, a multiple of max_align_t's alignment. */
void *forge_arena_take_new(struct forge_arena *arena, size_t bytes);

/* COUNT zeroed records of SIZE bytes, aligned for any type; NULL if out of memory. Never NULL for
 * COUNT 0. */
static inline void *forge_arena_take(struct forge_arena *arena, size_t count, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size > 0 && count > (SIZE_MAX - unit) / size)
        return NULL;
    size_t bytes = count * size + unit - 1;
    bytes -= bytes % unit;

    struct forge_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->room - chunk->used < bytes)
        return forge_arena_take_new(arena, bytes);
    void *place = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return place;
}

/* Releases all that was taken. */
void forge_arena_clear(struct forge_arena *arena);

#endif
