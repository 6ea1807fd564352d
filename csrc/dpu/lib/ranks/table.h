/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h: something for each DPU of a set, such as the address of its buffer in the host. */
#ifndef OFFCHIP_DPU_LIB_TABLE_H
#define OFFCHIP_DPU_LIB_TABLE_H

#include "dpu.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_config.h"

#include <stdint.h>

#define DPULIB_RANK_SIZE (DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI)

/* Something for each DPU of a set; NULL to begin with. */
struct dpulib_table {
    uint32_t nr_ranks;
    struct dpulib_table_rank {
        const struct dpu_rank_t *rank;
        void *entries[DPULIB_RANK_SIZE];
    } ranks[];
};

/* For the ranks of a set that was checked; NULL without memory. To be freed by free(). */
struct dpulib_table *dpulib_table_new(const struct dpu_set_t *set);
/* The entry of a DPU, whose rank must be there. */
static inline void **dpulib_table_entry(struct dpulib_table *table, const struct dpu_t *dpu)
{
    uint32_t i = 0;
    while (i + 1 < table->nr_ranks && table->ranks[i].rank != dpu->rank)
        i++;
    return &table->ranks[i].entries[dpulib_dpu_index(dpu)];
}

/* How many DPUs of a rank have an entry. */
uint32_t dpulib_table_count(const struct dpulib_table *table, const struct dpu_rank_t *rank);

#endif
