/* SPDX-License-Identifier: BSD-3-Clause */
/* push.c: a buffer for each DPU: preparing, and transferring what was prepared. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/transfers/transfer.h"

#include <stdlib.h>

DPU_EXPORT dpu_error_t dpu_prepare_xfer(struct dpu_set_t dpu_set, void *buffer)
{
    struct dpu_t *dpu;
    dpulib_lock();
    dpu_error_t error = dpulib_check_set_locked(dpu_set);
    for (struct dpulib_cursor at = {0};
         error == DPU_OK && (dpu = dpulib_next_dpu(&dpu_set, &at)) != NULL;)
        dpu->xfer_buffer = buffer;
    dpulib_unlock();
    return error;
}

/* Takes all that was prepared. */
static struct dpulib_table *take_prepared(const struct dpu_set_t *set)
{
    struct dpu_t *dpu;
    struct dpulib_table *table = dpulib_table_new(set);
    if (table == NULL)
        return NULL;

    dpulib_lock();
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(set, &at)) != NULL;)
        *dpulib_table_entry(table, dpu) = dpu->xfer_buffer;

    dpulib_unlock();
    return table;
}

/* Errors of a transfer that are found before its buffers are looked at; they stay prepared then. */
static dpu_error_t check_request(struct dpulib_place *place, dpu_xfer_t direction,
                                 struct dpu_symbol_t symbol, uint32_t offset, size_t length,
                                 dpu_xfer_flags_t flags)
{
    dpu_error_t error = dpulib_place_find(place, symbol, offset, length);
    if (error == DPU_ERR_INVALID_SYMBOL_ACCESS)
        return error;

    if (direction != DPU_XFER_TO_DPU && direction != DPU_XFER_FROM_DPU)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                           "direction %d is neither DPU_XFER_TO_DPU nor DPU_XFER_FROM_DPU",
                           (int)direction);
    if (error != DPU_OK)
        return error;

    if ((flags & DPU_XFER_PARALLEL) != 0 && place->memory != DPU_PLACE_WRAM)
        return dpulib_fail(DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER,
                           "only WRAM can be accessed while the program runs");
    return DPU_OK;
}

static dpu_error_t transfer_prepared(struct dpu_set_t set, const struct dpulib_place *place,
                                     dpu_xfer_t direction, dpu_xfer_flags_t flags)
{
    dpu_error_t error = dpulib_check_place(set, place);
    if (error != DPU_OK)
        return error;

    struct dpulib_transfer *transfer = malloc(sizeof *transfer);
    struct dpulib_table *table = take_prepared(&set);
    if (transfer == NULL || table == NULL) {
        free(transfer);
        free(table);
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");
    }

    *transfer = (struct dpulib_transfer){.place = *place, .direction = direction, .table = table};
    return dpulib_transfer_submit(set, transfer, false, flags);
}

static dpu_error_t push(struct dpu_set_t set, dpu_xfer_t direction, struct dpu_symbol_t symbol,
                        uint32_t offset, size_t length, dpu_xfer_flags_t flags)
{
    struct dpulib_place place;
    dpu_error_t error = check_request(&place, direction, symbol, offset, length, flags);
    if (error != DPU_OK)
        return error;

    error = transfer_prepared(set, &place, direction, flags);
    if ((flags & DPU_XFER_NO_RESET) == 0)
        (void)dpu_prepare_xfer(set, NULL);
    return error;
}

DPU_EXPORT dpu_error_t dpu_push_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                            struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                            size_t length, dpu_xfer_flags_t flags)
{
    dpu_error_t error = dpulib_check_set(dpu_set);
    return error != DPU_OK ? error : push(dpu_set, xfer, symbol, symbol_offset, length, flags);
}

DPU_EXPORT dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                     const char *symbol_name, uint32_t symbol_offset, size_t length,
                                     dpu_xfer_flags_t flags)
{
    struct dpu_symbol_t symbol;
    dpu_error_t error = dpulib_find_symbol(dpu_set, symbol_name, &symbol);
    return error != DPU_OK ? error : push(dpu_set, xfer, symbol, symbol_offset, length, flags);
}
