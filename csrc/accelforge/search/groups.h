/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h: the results of all templates, sorted by their structure.
 *
 * The structure of a result is what stands above the lowest outermost holder of a shared tensor:
 * such holders, and loops of more than one iteration; and where among these loops other holders
 * and reservations stand.
 */
#ifndef OFFCHIP_FORGE_GROUPS_H
#define OFFCHIP_FORGE_GROUPS_H

#include "accelforge/search/search.h"

/* A node of a structure: (kind, level, tensor or variable, dimension). */
struct forge_group_node {
    uint32_t kind; /* enum forge_node_kind */
    uint32_t level;
    uint32_t member;
    uint32_t dimension;
};

/* Column of what rows hold in a memory directly below DEPTH fused loops. */
struct forge_group_column {
    uint32_t level;
    uint32_t depth;
    uint32_t tensor; /* of a shared tensor; else FORGE_NONE */
    bool persistent;
    double *shares; /* one per row */
};

struct forge_pmapping_group {
    struct forge_group_node *nodes;
    uint32_t node_count;
    uint32_t loop_count;
    uint32_t *stops;
    uint32_t stop_count;
    uint32_t row_count;
    uint32_t *templates;
    uint32_t *rows; /* of the template's */
    double *objectives;
    uint32_t *tiles;
    struct forge_group_column *columns;
    uint32_t column_count;
};

struct forge_groups {
    struct forge_arena arena;
    struct forge_pmapping_group *list;
    uint32_t count;
    uint64_t rows;
};

/* Groups what was found, and keeps the best rows of those with equal fused tiles. GROUPS is
 * released by forge_groups_clear(), also after a failure. */
enum forge_status forge_groups_make(struct forge_groups *groups, const struct forge_found *found);
void forge_groups_clear(struct forge_groups *groups);

#endif
