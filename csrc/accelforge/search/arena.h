/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h: memory that is released all at once.
 */
#ifndef OFFCHIP_FORGE_ARENA_H
#define OFFCHIP_FORGE_ARENA_H

#include <stddef.h>

struct forge_arena {
    struct forge_arena_chunk *chunks; /* NULL: empty; the newest first */
};

/* COUNT zeroed records of SIZE bytes, aligned for any type; NULL if out of memory. Never NULL for
 * COUNT 0. */
void *forge_arena_take(struct forge_arena *arena, size_t count, size_t size);

/* Releases all that was taken. */
void forge_arena_clear(struct forge_arena *arena);

#endif
