/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c: the same to every DPU of a set, and from one DPU. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/transfers/transfer.h"

#include <stdlib.h>

static dpu_error_t broadcast(struct dpu_set_t set, struct dpu_symbol_t symbol, uint32_t offset,
                             const void *source, size_t length, dpu_xfer_flags_t flags)
{
    struct dpulib_place place;
    dpu_error_t error = dpulib_place_find(&place, symbol, offset, length);
    if (error == DPU_OK)
        error = dpulib_check_place(set, &place);
    if (error != DPU_OK)
        return error;
    if (source == NULL && length != 0)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "the buffer must not be NULL");

    struct dpulib_transfer *transfer = malloc(sizeof *transfer);
    if (transfer == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    *transfer =
        (struct dpulib_transfer){.place = place, .direction = DPU_XFER_TO_DPU, .everyone = source};
    return dpulib_transfer_submit(set, transfer, set.kind == DPU_SET_RANKS, flags);
}

static dpu_error_t broadcast_by_name(struct dpu_set_t set, const char *name, uint32_t offset,
                                     const void *source, size_t length, dpu_xfer_flags_t flags)
{
    struct dpu_symbol_t symbol;
    dpu_error_t error = dpulib_find_symbol(set, name, &symbol);
    return error != DPU_OK ? error : broadcast(set, symbol, offset, source, length, flags);
}

DPU_EXPORT dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                        uint32_t symbol_offset, const void *src, size_t length,
                                        dpu_xfer_flags_t flags)
{
    return broadcast_by_name(dpu_set, symbol_name, symbol_offset, src, length, flags);
}

DPU_EXPORT dpu_error_t dpu_broadcast_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                               uint32_t symbol_offset, const void *src,
                                               size_t length, dpu_xfer_flags_t flags)
{
    dpu_error_t error = dpulib_check_set(dpu_set);
    return error != DPU_OK ? error : broadcast(dpu_set, symbol, symbol_offset, src, length, flags);
}

DPU_EXPORT dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                   uint32_t symbol_offset, const void *src, size_t length)
{
    return broadcast_by_name(dpu_set, symbol_name, symbol_offset, src, length, DPU_XFER_DEFAULT);
}

DPU_EXPORT dpu_error_t dpu_copy_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                          uint32_t symbol_offset, const void *src, size_t length)
{
    return dpu_broadcast_to_symbol(dpu_set, symbol, symbol_offset, src, length, DPU_XFER_DEFAULT);
}

struct read {
    struct dpulib_place place;
    void *host;
};

static dpu_error_t run_read(struct dpu_t *dpu, void *argument)
{
    const struct read *read = argument;
    dpulib_place_read(&read->place, dpu->machine, 0, read->place.size, read->host);
    return DPU_OK;
}

static dpu_error_t copy_from(struct dpu_t *dpu, struct dpu_symbol_t symbol, uint32_t offset,
                             void *target, size_t length)
{
    static const enum dpulib_job_kind kinds[] = {
        [DPU_PLACE_WRAM] = DPULIB_JOB_WRAM_FROM_MATRIX,
        [DPU_PLACE_MRAM] = DPULIB_JOB_MRAM_FROM_MATRIX,
        [DPU_PLACE_IRAM] = DPULIB_JOB_IRAM_FROM_MATRIX,
    };
    struct read read = {.host = target};
    dpu_error_t error = dpulib_place_find(&read.place, symbol, offset, length);
    if (error != DPU_OK)
        return error;

    /* With the lock, as another thread may free the set. */
    const struct dpu_set_t set = {.kind = DPU_SET_DPU, .dpu = dpu};
    dpulib_lock();
    error = dpulib_check_set_locked(set);
    if (error == DPU_OK)
        error = dpulib_place_check(&read.place, dpu->machine);
    dpulib_unlock();

    if (error != DPU_OK)
        return error;
    if (target == NULL && length != 0)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "the buffer must not be NULL");

    const struct dpulib_spec spec = {.kind = kinds[read.place.memory],
                                     .run = length != 0 ? run_read : NULL,
                                     .argument = &read,
                                     .bytes = length,
                                     .move = DPULIB_SERIAL_FROM};
    return length == 0 ? DPU_OK : dpulib_run_on_dpu(dpu, &spec);
}

DPU_EXPORT dpu_error_t dpu_copy_from_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                            uint32_t symbol_offset, void *dst, size_t length)
{
    struct dpu_t *dpu;
    dpu_error_t error = dpulib_check_single(dpu_set, &dpu);
    return error != DPU_OK ? error : copy_from(dpu, symbol, symbol_offset, dst, length);
}

DPU_EXPORT dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name,
                                     uint32_t symbol_offset, void *dst, size_t length)
{
    struct dpu_t *dpu;
    struct dpu_symbol_t symbol;
    dpu_error_t error = dpulib_check_single(dpu_set, &dpu);
    if (error == DPU_OK)
        error = dpulib_find_symbol(dpu_set, symbol_name, &symbol);
    return error != DPU_OK ? error : copy_from(dpu, symbol, symbol_offset, dst, length);
}
