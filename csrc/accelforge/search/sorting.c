/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/sorting.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

/* --- choices --- */

void forge_choice_table_clear(struct forge_choice_table *table)
{
    free(table->tiles);
    free(table->values);
    memset(table, 0, sizeof *table);
}

static bool resize(void **array, size_t count, size_t size)
{
    void *grown = realloc(*array, count * size > 0 ? count * size : 1);
    if (grown == NULL)
        return false;
    *array = grown;
    return true;
}

bool forge_choice_table_grow(struct forge_choice_table *table)
{
    if (table->count < table->room)
        return true;
    if (table->room > UINT32_MAX / 4)
        return false;
    size_t room = 2 * (size_t)table->room + 64;
    if (!resize((void **)&table->tiles, room * table->symbols, sizeof(uint32_t)) ||
        !resize((void **)&table->values, room * table->groups, sizeof(double)))
        return false;
    table->room = (uint32_t)room;
    return true;
}

/* --- classes --- */

static bool make_room(struct forge_sorting *sorting, size_t count)
{
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    if (count + 1 > sorting->room) {
        size_t room = 2 * count + 64;
        if (!resize((void **)&sorting->order, room, sizeof(uint32_t)) ||
            !resize((void **)&sorting->starts, room, sizeof(uint32_t)) ||
            !resize((void **)&sorting->classes, room, sizeof(uint32_t)) ||
            !resize((void **)&sorting->firsts, room, sizeof(uint32_t)))
            return false;
        sorting->room = room;
    }
    if (places > sorting->place_room) {
        if (!resize((void **)&sorting->places, places, sizeof(uint32_t)))
            return false;
        sorting->place_room = places;
    }
    return true;
}

static uint64_t hash_tiles(const uint32_t *tiles, const uint32_t *keys, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ tiles[keys[i]]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 31;
    }
    return hash;
}

static bool are_alike(const uint32_t *a, const uint32_t *b, const uint32_t *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[keys[i]] != b[keys[i]])
            return false;
    return true;
}

static void classify(struct forge_sorting *sorting, const struct forge_choice_table *table,
                     const uint32_t *keys, uint32_t key_count)
{
    size_t mask = 15;
    while (mask + 1 < 2 * (size_t)table->count)
        mask = 2 * mask + 1;
    memset(sorting->places, 0xff, (mask + 1) * sizeof(uint32_t));

    sorting->class_count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const uint32_t *tiles = forge_tiles_of(table, i);
        size_t place = (size_t)hash_tiles(tiles, keys, key_count) & mask;
        uint32_t found = sorting->places[place];
        while (found != NOBODY &&
               !are_alike(tiles, forge_tiles_of(table, sorting->firsts[found]), keys, key_count)) {
            place = (place + 1) & mask;
            found = sorting->places[place];
        }
        if (found == NOBODY) {
            found = sorting->class_count++;
            sorting->places[place] = found;
            sorting->firsts[found] = i;
        }
        sorting->classes[i] = found;
    }
}

bool forge_sort_choices(struct forge_sorting *sorting, const struct forge_choice_table *table,
                        uint64_t keys)
{
    if (!make_room(sorting, table->count))
        return false;
    uint32_t list[64];
    uint32_t key_count = 0;
    for (uint32_t s = 0; s < table->symbols; s++)
        if ((keys >> s & 1) != 0)
            list[key_count++] = s;
    classify(sorting, table, list, key_count);

    /* Counting sort. */
    memset(sorting->starts, 0, ((size_t)sorting->class_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < table->count; i++)
        sorting->starts[sorting->classes[i] + 1]++;
    for (uint32_t c = 0; c < sorting->class_count; c++) {
        sorting->starts[c + 1] += sorting->starts[c];
        sorting->firsts[c] = sorting->starts[c];
    }
    for (uint32_t i = 0; i < table->count; i++)
        sorting->order[sorting->firsts[sorting->classes[i]]++] = i;
    return true;
}

void forge_sorting_clear(struct forge_sorting *sorting)
{
    free(sorting->order);
    free(sorting->starts);
    free(sorting->classes);
    free(sorting->places);
    free(sorting->firsts);
    memset(sorting, 0, sizeof *sorting);
}
