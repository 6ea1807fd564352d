/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer.c: copies by symbol: the same to every DPU of a set, from one DPU, and a buffer for each
 * DPU.
 *
 * A call describes the copy, and hands it to dpulib_submit(). What it names is resolved there,
 * under the lock that the operation is queued under: resolve_shared() and resolve_prepared() say in
 * which order errors are found.
 */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/transfers/place.h"

#include <stdlib.h>

struct transfer {
    struct dpulib_target target;
    struct dpulib_place place; /* once it is resolved */
    dpu_xfer_t direction;
    dpu_xfer_flags_t flags;
    void *host;                 /* the buffer of all DPUs, if there is no table */
    struct dpulib_table *table; /* the buffer of each DPU; NULL: not that DPU */
};

static dpu_error_t run_transfer(struct dpu_t *dpu, void *argument)
{
    const struct transfer *t = argument;
    void *host = t->table != NULL ? *dpulib_table_entry(t->table, dpu) : t->host;
    if (host == NULL || t->place.size == 0)
        return DPU_OK;

    if (t->direction == DPU_XFER_TO_DPU)
        dpulib_place_write(&t->place, dpu->machine, 0, t->place.size, host);
    else
        dpulib_place_read(&t->place, dpu->machine, 0, t->place.size, host);
    return DPU_OK;
}

static void release_transfer(void *argument)
{
    struct transfer *t = argument;
    free(t->table);
}

static enum dpulib_job_kind job_kind(const struct transfer *t, bool broadcast, bool parallel)
{
    static const enum dpulib_job_kind to_rank[] = {
        [DPU_PLACE_WRAM] = DPULIB_JOB_WRAM_TO_RANK,
        [DPU_PLACE_MRAM] = DPULIB_JOB_MRAM_TO_RANK,
        [DPU_PLACE_IRAM] = DPULIB_JOB_IRAM_TO_RANK,
    };
    static const enum dpulib_job_kind to_matrix[] = {
        [DPU_PLACE_WRAM] = DPULIB_JOB_WRAM_TO_MATRIX,
        [DPU_PLACE_MRAM] = DPULIB_JOB_MRAM_TO_MATRIX,
        [DPU_PLACE_IRAM] = DPULIB_JOB_IRAM_TO_MATRIX,
    };
    static const enum dpulib_job_kind from_matrix[] = {
        [DPU_PLACE_WRAM] = DPULIB_JOB_WRAM_FROM_MATRIX,
        [DPU_PLACE_MRAM] = DPULIB_JOB_MRAM_FROM_MATRIX,
        [DPU_PLACE_IRAM] = DPULIB_JOB_IRAM_FROM_MATRIX,
    };
    bool to_dpu = t->direction == DPU_XFER_TO_DPU;
    if (parallel)
        return to_dpu ? DPULIB_JOB_PARALLEL_WRAM_TO_MATRIX : DPULIB_JOB_PARALLEL_WRAM_FROM_MATRIX;
    if (broadcast)
        return to_rank[t->place.memory];
    return to_dpu ? to_matrix[t->place.memory] : from_matrix[t->place.memory];
}

static enum dpulib_move move_of(const struct transfer *t, dpu_set_kind_t kind)
{
    const bool to_dpu = t->direction == DPU_XFER_TO_DPU;
    if (kind == DPU_SET_DPU)
        return to_dpu ? DPULIB_SERIAL_TO : DPULIB_SERIAL_FROM;
    if (t->table == NULL)
        return DPULIB_BROADCAST;
    return to_dpu ? DPULIB_PARALLEL_TO : DPULIB_PARALLEL_FROM;
}

/* Completes the spec of a transfer that was resolved. */
static void describe(const struct dpu_set_t *set, struct dpulib_spec *spec)
{
    const struct transfer *t = spec->argument;
    const bool broadcast = set->kind == DPU_SET_RANKS && t->table == NULL;
    spec->parallel = (t->flags & DPU_XFER_PARALLEL) != 0 && t->place.memory == DPU_PLACE_WRAM;
    spec->kind = job_kind(t, broadcast, spec->parallel);
    spec->bytes = t->place.size;
    spec->move = move_of(t, set->kind);
    spec->by_commands = t->place.memory != DPU_PLACE_MRAM;
    spec->moved = t->table;
}

static dpu_error_t submit(struct dpu_set_t set, struct transfer transfer,
                          dpu_error_t (*resolve)(const struct dpu_set_t *, struct dpulib_spec *))
{
    const struct dpulib_spec spec = {
        .run = run_transfer,
        .argument = &transfer,
        .argument_size = sizeof transfer,
        .resolve = resolve,
        .release = release_transfer,
    };
    return dpulib_submit(set, &spec, (transfer.flags & DPU_XFER_ASYNC) != 0);
}

/* --- the same for all, and from one --- */

static dpu_error_t resolve_shared(const struct dpu_set_t *set, struct dpulib_spec *spec)
{
    struct transfer *t = spec->argument;
    const bool to_dpu = t->direction == DPU_XFER_TO_DPU;
    dpu_error_t error = to_dpu ? DPU_OK : dpulib_check_is_dpu(set);
    if (error == DPU_OK)
        error = dpulib_target_resolve(&t->target, set);
    if (error == DPU_OK)
        error = dpulib_place_find(&t->place, &t->target);
    if (error == DPU_OK)
        error = dpulib_place_check(&t->place, set);
    if (error == DPU_OK && t->host == NULL && t->place.size != 0)
        error = dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "the buffer must not be NULL");

    spec->nothing = !to_dpu && t->place.size == 0;
    describe(set, spec);
    return error;
}

static dpu_error_t broadcast(struct dpu_set_t set, struct dpulib_target target, const void *source,
                             dpu_xfer_flags_t flags)
{
    /* The copy only reads it. */
    void *host = (void *)(uintptr_t)source;
    return submit(set, (struct transfer){.target = target, .host = host, .flags = flags},
                  resolve_shared);
}

DPU_EXPORT dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                        uint32_t symbol_offset, const void *src, size_t length,
                                        dpu_xfer_flags_t flags)
{
    return broadcast(dpu_set, dpulib_by_name(symbol_name, symbol_offset, length), src, flags);
}

DPU_EXPORT dpu_error_t dpu_broadcast_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                               uint32_t symbol_offset, const void *src,
                                               size_t length, dpu_xfer_flags_t flags)
{
    return broadcast(dpu_set, dpulib_by_symbol(symbol, symbol_offset, length), src, flags);
}

DPU_EXPORT dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                   uint32_t symbol_offset, const void *src, size_t length)
{
    return dpu_broadcast_to(dpu_set, symbol_name, symbol_offset, src, length, DPU_XFER_DEFAULT);
}

DPU_EXPORT dpu_error_t dpu_copy_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                          uint32_t symbol_offset, const void *src, size_t length)
{
    return dpu_broadcast_to_symbol(dpu_set, symbol, symbol_offset, src, length, DPU_XFER_DEFAULT);
}

static dpu_error_t copy_from(struct dpu_set_t set, struct dpulib_target target, void *host)
{
    return submit(set,
                  (struct transfer){.target = target, .direction = DPU_XFER_FROM_DPU, .host = host},
                  resolve_shared);
}

DPU_EXPORT dpu_error_t dpu_copy_from_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                            uint32_t symbol_offset, void *dst, size_t length)
{
    return copy_from(dpu_set, dpulib_by_symbol(symbol, symbol_offset, length), dst);
}

DPU_EXPORT dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name,
                                     uint32_t symbol_offset, void *dst, size_t length)
{
    return copy_from(dpu_set, dpulib_by_name(symbol_name, symbol_offset, length), dst);
}

/* --- a buffer for each DPU --- */

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

/* Errors of a transfer that are found before its buffers are looked at; they stay prepared then. */
static dpu_error_t check_request(const struct dpu_set_t *set, struct transfer *t)
{
    dpu_error_t error = dpulib_target_resolve(&t->target, set);
    if (error != DPU_OK)
        return error;

    error = dpulib_place_find(&t->place, &t->target);
    if (t->direction != DPU_XFER_TO_DPU && t->direction != DPU_XFER_FROM_DPU)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                           "direction %d is neither DPU_XFER_TO_DPU nor DPU_XFER_FROM_DPU",
                           (int)t->direction);
    if (error != DPU_OK)
        return error;

    if ((t->flags & DPU_XFER_PARALLEL) != 0 && t->place.memory != DPU_PLACE_WRAM)
        return dpulib_fail(DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER,
                           "only WRAM can be accessed while the program runs");
    return DPU_OK;
}

/* Takes all that was prepared, also for a place that then turns out to be outside of a memory. */
static dpu_error_t resolve_prepared(const struct dpu_set_t *set, struct dpulib_spec *spec)
{
    struct transfer *t = spec->argument;
    dpu_error_t error = check_request(set, t);
    if (error != DPU_OK)
        return error;
    t->table = dpulib_table_new(set);
    if (t->table == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    const bool keep = (t->flags & DPU_XFER_NO_RESET) != 0;
    struct dpu_t *dpu;
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(set, &at)) != NULL;) {
        *dpulib_table_entry(t->table, dpu) = dpu->xfer_buffer;
        if (!keep)
            dpu->xfer_buffer = NULL;
    }

    describe(set, spec);
    return dpulib_place_check(&t->place, set);
}

static dpu_error_t push(struct dpu_set_t set, dpu_xfer_t direction, struct dpulib_target target,
                        dpu_xfer_flags_t flags)
{
    return submit(set, (struct transfer){.target = target, .direction = direction, .flags = flags},
                  resolve_prepared);
}

DPU_EXPORT dpu_error_t dpu_push_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                            struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                            size_t length, dpu_xfer_flags_t flags)
{
    return push(dpu_set, xfer, dpulib_by_symbol(symbol, symbol_offset, length), flags);
}

DPU_EXPORT dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                     const char *symbol_name, uint32_t symbol_offset, size_t length,
                                     dpu_xfer_flags_t flags)
{
    return push(dpu_set, xfer, dpulib_by_name(symbol_name, symbol_offset, length), flags);
}
