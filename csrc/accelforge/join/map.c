/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/map.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/join/tables.h"

bool fuse_reserve(void *address, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = *room + *room / 2 + 16;
    if (more < need)
        more = need;
    if (more > SIZE_MAX / 2 / size)
        return false;

    void *array;
    memcpy(&array, address, sizeof(array));
    void *grown = realloc(array, more * size);
    if (grown == NULL)
        return false;
    memcpy(address, &grown, sizeof(grown));
    *room = more;
    return true;
}

/* The slot of KEY, or the free one where it would go. There is one. */
static size_t slot_of(const struct fuse_map *map, uint64_t key)
{
    size_t slot = (size_t)fuse_mix(key) & (map->slots - 1);
    while (map->numbers[slot] != 0 && map->keys[slot] != key)
        slot = (slot + 1) & (map->slots - 1);
    return slot;
}

uint32_t fuse_map_find(const struct fuse_map *map, uint64_t key)
{
    if (map->slots == 0)
        return FUSE_NONE;
    uint32_t number = map->numbers[slot_of(map, key)];
    return number == 0 ? FUSE_NONE : number - 1;
}

static bool grow(struct fuse_map *map)
{
    struct fuse_map larger = {.slots = map->slots == 0 ? 64 : 4 * map->slots, .count = map->count};
    if (larger.slots > UINT32_MAX)
        return false;
    larger.keys = malloc(larger.slots * sizeof *larger.keys);
    larger.numbers = calloc(larger.slots, sizeof *larger.numbers);
    if (larger.keys == NULL || larger.numbers == NULL) {
        fuse_map_clear(&larger);
        return false;
    }

    for (size_t i = 0; i < map->slots; i++) {
        if (map->numbers[i] == 0)
            continue;
        size_t slot = slot_of(&larger, map->keys[i]);
        larger.keys[slot] = map->keys[i];
        larger.numbers[slot] = map->numbers[i];
    }
    fuse_map_clear(map);
    *map = larger;
    return true;
}

uint32_t fuse_map_add(struct fuse_map *map, uint64_t key)
{
    uint32_t known = fuse_map_find(map, key);
    if (known != FUSE_NONE)
        return known;
    if (2 * ((size_t)map->count + 1) > map->slots && !grow(map))
        return FUSE_NONE;

    size_t slot = slot_of(map, key);
    map->keys[slot] = key;
    map->numbers[slot] = ++map->count;
    return map->count - 1;
}

void fuse_map_clear(struct fuse_map *map)
{
    free(map->keys);
    free(map->numbers);
    memset(map, 0, sizeof *map);
}
