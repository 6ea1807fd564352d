/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h: growing arrays, and a hash table from 64-bit keys to numbers in the order of insertion.
 */
#ifndef OFFCHIP_FUSE_MAP_H
#define OFFCHIP_FUSE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for NEED records of SIZE bytes in the array that the pointer at ADDRESS points to,
 * which has room for *ROOM. False: out of memory, and nothing has changed.
 */
bool fuse_reserve(void *address, size_t *room, size_t need, size_t size);

struct fuse_map {
    uint64_t *keys;
    uint32_t *numbers; /* 1 + number, or 0: free */
    size_t slots;
    uint32_t count;
};

/* The number of KEY, or FUSE_NONE. */
uint32_t fuse_map_find(const struct fuse_map *map, uint64_t key);

/* The same; a new key gets the next number. FUSE_NONE if out of memory. */
uint32_t fuse_map_add(struct fuse_map *map, uint64_t key);
void fuse_map_clear(struct fuse_map *map);

static inline uint64_t fuse_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
