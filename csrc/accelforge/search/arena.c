/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each chunk is twice as large as the one before: most arenas are small, and chunks are zeroed. */
#define FIRST_BYTES ((size_t)1 << 10)
#define CHUNK_BYTES ((size_t)1 << 14)

static size_t room_of(const struct forge_arena *arena, size_t bytes)
{
    size_t room = arena->chunks == NULL ? FIRST_BYTES : 2 * arena->chunks->room;
    if (arena->chunks != NULL && arena->chunks->room >= CHUNK_BYTES / 2)
        room = CHUNK_BYTES;
    return bytes > room ? bytes : room;
}

void *forge_arena_take_new(struct forge_arena *arena, size_t bytes)
{
    size_t room = room_of(arena, bytes);
    if (room > SIZE_MAX - sizeof(struct forge_arena_chunk))
        return NULL;
    struct forge_arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL)
        return NULL;

    memset(chunk->bytes, 0, room);
    chunk->next = arena->chunks;
    chunk->used = bytes;
    chunk->room = room;
    arena->chunks = chunk;
    return chunk->bytes;
}

void forge_arena_clear(struct forge_arena *arena)
{
    while (arena->chunks != NULL) {
        struct forge_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}
