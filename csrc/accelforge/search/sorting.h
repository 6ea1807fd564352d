/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sorting.h: choices of tiles, and those of them that are alike in some tiles.
 */
#ifndef OFFCHIP_FORGE_SORTING_H
#define OFFCHIP_FORGE_SORTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Choices: SYMBOLS tiles and GROUPS values each. */
struct forge_choice_table {
    uint32_t *tiles;
    double *values;
    uint32_t count;
    uint32_t room;
    uint32_t symbols;
    uint32_t groups;
};

void forge_choice_table_clear(struct forge_choice_table *table);

/* Room for one more choice; false if out of memory. */
bool forge_choice_table_grow(struct forge_choice_table *table);

static inline uint32_t *forge_tiles_of(const struct forge_choice_table *table, uint32_t i)
{
    return &table->tiles[(size_t)i * table->symbols];
}

static inline double *forge_values_of(const struct forge_choice_table *table, uint32_t i)
{
    return &table->values[(size_t)i * table->groups];
}

/* Choices in an order in which those that are alike follow one another. */
struct forge_sorting {
    uint32_t *order;  /* of all choices; within a class they keep their order */
    uint32_t *starts; /* of the classes, and the end */
    uint32_t class_count;
    /* private: */
    uint32_t *classes;
    uint32_t *places;
    uint32_t *firsts;
    size_t room;
    size_t place_room;
};

/* Sorts the choices by their tiles of the symbols in KEYS; false if out of memory. */
bool forge_sort_choices(struct forge_sorting *sorting, const struct forge_choice_table *table,
                        uint64_t keys);
void forge_sorting_clear(struct forge_sorting *sorting);

#endif
