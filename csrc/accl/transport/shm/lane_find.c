/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_find.h"

struct lane *acclib_lane_find_in(const struct peer *peer, uint64_t key)
{
    struct arena_header *arena = peer->arena;
    for (uint32_t i = 0; arena != NULL && i < ARENA_LANES; i++) {
        if (atomic_load(&arena->lanes[i].key) != key)
            continue;

        uint64_t offset = READ_ONCE(arena->lanes[i].offset);
        bool inside = offset % ARENA_LINE == 0 && offset <= peer->arena_bytes &&
                      sizeof(struct lane) <= peer->arena_bytes - offset;
        return inside ? (struct lane *)(void *)((uint8_t *)arena + offset) : NULL;
    }

    return NULL;
}
