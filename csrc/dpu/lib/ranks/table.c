/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/ranks/table.h"

#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"

#include <stdlib.h>

struct dpulib_table *dpulib_table_new(const struct dpu_set_t *set)
{
    const uint32_t nr_ranks = dpulib_set_ranks(set);
    struct dpulib_table *table =
        calloc(1, sizeof *table + nr_ranks * sizeof(struct dpulib_table_rank));
    if (table == NULL)
        return NULL;

    table->nr_ranks = nr_ranks;
    for (uint32_t i = 0; i < nr_ranks; i++)
        table->ranks[i].rank = dpulib_set_rank(set, i);
    return table;
}

uint32_t dpulib_table_count(const struct dpulib_table *table, const struct dpu_rank_t *rank)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->nr_ranks; i++)
        if (table->ranks[i].rank == rank)
            for (uint32_t j = 0; j < DPULIB_RANK_SIZE; j++)
                count += table->ranks[i].entries[j] != NULL;
    return count;
}
