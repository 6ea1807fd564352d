/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: operations that copy. */
#ifndef OFFCHIP_DPU_LIB_TRANSFER_H
#define OFFCHIP_DPU_LIB_TRANSFER_H

#include "dpu.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/transfers/place.h"
#include "dpu_transfer_matrix.h"

/* Copies the place to or from what the table has for each DPU; NULL: not that DPU. */
struct dpulib_transfer {
    struct dpulib_place place;
    dpu_xfer_t direction;
    const void *everyone;       /* to all DPUs, if table is NULL */
    struct dpulib_table *table; /* freed with the transfer */
};

/*
 * Runs TRANSFER, which is allocated and freed in any case. BROADCAST only chooses what an
 * asynchronous error calls the operation.
 */
dpu_error_t dpulib_transfer_submit(struct dpu_set_t set, struct dpulib_transfer *transfer,
                                   bool broadcast, dpu_xfer_flags_t flags);

/* Finds a symbol that all DPUs of a set have. */
dpu_error_t dpulib_find_symbol(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol);

/* DPU_OK if a machine's memory can be reached: the same for all DPUs of a set. */
dpu_error_t dpulib_check_place(struct dpu_set_t set, const struct dpulib_place *place);

#endif
