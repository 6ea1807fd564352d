/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: works that copy, and a host address for each DPU of a set. */
#ifndef OFFCHIP_DPU_TRANSFER_H
#define OFFCHIP_DPU_TRANSFER_H

#include "dpu/lib/core/internal.h"
#include "dpu/lib/transfers/place.h"

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
void **dpulib_table_entry(struct dpulib_table *table, const struct dpu_t *dpu);

/* How many DPUs of a rank have an entry. */
uint32_t dpulib_table_count(const struct dpulib_table *table, const struct dpu_rank_t *rank);

/* Copies the place to or from what the table has for each DPU; NULL: not that DPU. */
struct dpulib_transfer {
    struct dpulib_place place;
    dpu_xfer_t direction;
    const void *everyone;       /* to all DPUs, if table is NULL */
    struct dpulib_table *table; /* freed with the transfer */
};

/*
 * Runs TRANSFER, which is allocated and freed in any case. BROADCAST only chooses what an
 * asynchronous error calls the job.
 */
dpu_error_t dpulib_transfer_submit(struct dpu_set_t set, struct dpulib_transfer *transfer,
                                   bool broadcast, dpu_xfer_flags_t flags);

/*
 * Copies blocks one after the other to or from a place in MRAM. What they have too much is left
 * out, and what is missing in MRAM becomes 0.
 */
void dpulib_copy_blocks(const struct dpulib_place *place, struct dpu_machine *machine, bool to_dpu,
                        const struct sg_xfer_buffer *blocks);

/* Finds a symbol that all DPUs of a set have. */
dpu_error_t dpulib_find_symbol(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol);

/* Whether a machine's memory can be reached: the same for all DPUs of a set. */
dpu_error_t dpulib_check_place(struct dpu_set_t set, const struct dpulib_place *place);

#endif
