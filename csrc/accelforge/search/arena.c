/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)1 << 14)

struct forge_arena_chunk {
    struct forge_arena_chunk *next;
    size_t used;
    size_t room;
    alignas(max_align_t) char bytes[];
};

static struct forge_arena_chunk *add_chunk(struct forge_arena *arena, size_t bytes)
{
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (room > SIZE_MAX - sizeof(struct forge_arena_chunk))
        return NULL;
    struct forge_arena_chunk *chunk = malloc(sizeof(*chunk) + room);
    if (chunk == NULL)
        return NULL;

    chunk->next = arena->chunks;
    chunk->used = 0;
    chunk->room = room;
    arena->chunks = chunk;
    return chunk;
}

void *forge_arena_take(struct forge_arena *arena, size_t count, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size > 0 && count > (SIZE_MAX - unit) / size)
        return NULL;
    size_t bytes = count * size + unit - 1;
    bytes -= bytes % unit;

    struct forge_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->room - chunk->used < bytes)
        chunk = add_chunk(arena, bytes);
    if (chunk == NULL)
        return NULL;

    void *place = chunk->bytes + chunk->used;
    chunk->used += bytes;
    memset(place, 0, bytes);
    return place;
}

void forge_arena_clear(struct forge_arena *arena)
{
    while (arena->chunks != NULL) {
        struct forge_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}
