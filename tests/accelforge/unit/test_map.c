/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_join
 *
 * The table of numbers for keys: the same after it has grown, whatever the keys, and all freed.
 */
#include "accelforge/join/map.h"

#include "accelforge/join/tables.h"
#include "tests/support/check.h"

enum { KEYS = 3000 };

static uint64_t key_of(uint32_t i, unsigned shift)
{
    return (uint64_t)(i + 1) << shift;
}

int main(void)
{
    for (unsigned shift = 0; shift <= 48; shift += 16) {
        struct fuse_map map = {.count = 0};
        CHECK(fuse_map_find(&map, 7) == FUSE_NONE);
        for (uint32_t i = 0; i < KEYS; i++) {
            CHECK(fuse_map_find(&map, key_of(i, shift)) == FUSE_NONE);
            CHECK(fuse_map_add(&map, key_of(i, shift)) == i);
            CHECK(fuse_map_add(&map, key_of(i / 2, shift)) == i / 2);
        }
        for (uint32_t i = 0; i < KEYS; i++)
            CHECK(fuse_map_find(&map, key_of(i, shift)) == i);
        CHECK(map.count == KEYS);
        fuse_map_clear(&map);
    }
    return 0;
}
