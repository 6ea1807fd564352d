/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/checks/shadow.h"

#include <stdlib.h>
#include <string.h>

#define TABLES_AT_FIRST 64

bool shadow_create(struct shadow *shadow, uint32_t wram_size, uint32_t threads, bool has_cache)
{
    *shadow = (struct shadow){
        .grain = has_cache ? 1 : 8,
        .threads = threads,
        .wram = calloc(wram_size, sizeof *shadow->wram),
        .mram = calloc(SHADOW_PAGES, sizeof *shadow->mram),
    };
    return shadow->wram != NULL && shadow->mram != NULL;
}

void shadow_destroy(struct shadow *shadow)
{
    for (uint32_t i = 0; shadow->mram != NULL && i < SHADOW_PAGES; i++)
        free(shadow->mram[i]);
    free(shadow->mram);
    free(shadow->wram);
    free(shadow->tables);
    free(shadow->free_tables);
    *shadow = (struct shadow){0};
}

struct cell *shadow_mram(struct shadow *shadow, uint32_t address)
{
    uint32_t at = address & (DPU_MACHINE_MRAM - 1);
    struct cell **page = &shadow->mram[at / SHADOW_PAGE];
    if (*page == NULL)
        *page = calloc(SHADOW_PAGE / shadow->grain, sizeof **page);
    if (*page == NULL) {
        shadow->is_full = true;
        return NULL;
    }
    return &(*page)[at % SHADOW_PAGE / shadow->grain];
}

static bool grow(struct shadow *shadow)
{
    uint32_t count = shadow->table_count != 0 ? 2 * shadow->table_count : TABLES_AT_FIRST;
    size_t row = shadow->threads * sizeof *shadow->tables;
    struct record *tables = realloc(shadow->tables, count * row);
    if (tables == NULL)
        return false;

    shadow->tables = tables;
    uint32_t *numbers = realloc(shadow->free_tables, count * sizeof *numbers);
    if (numbers == NULL)
        return false;

    shadow->free_tables = numbers;
    for (uint32_t i = shadow->table_count; i < count; i++)
        numbers[shadow->free_count++] = i;
    shadow->table_count = count;
    return true;
}

bool shadow_take_table(struct shadow *shadow, uint32_t *number)
{
    if (shadow->free_count == 0 && !grow(shadow)) {
        shadow->is_full = true;
        return false;
    }

    *number = shadow->free_tables[--shadow->free_count];
    memset(shadow_table(shadow, *number), 0, shadow->threads * sizeof *shadow->tables);
    return true;
}

void shadow_give_table(struct shadow *shadow, uint32_t number)
{
    shadow->free_tables[shadow->free_count++] = number;
}
