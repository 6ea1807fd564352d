/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies by symbol: the same to every DPU of a set, from one DPU, and a buffer for each
 * DPU. */
#include "dpu/lib/transfers/transfer.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/sets/set_program.h"
#include "dpu_program.h"

#include <stdlib.h>
#include <string.h>

static dpu_error_t run_transfer(struct dpu_t *dpu, void *argument)
{
    struct dpulib_transfer *t = argument;
    if (t->place.size == 0)
        return DPU_OK;

    if (t->table == NULL) {
        dpulib_place_write(&t->place, dpu->machine, 0, t->place.size, t->everyone);
        return DPU_OK;
    }

    void *host = *dpulib_table_entry(t->table, dpu);
    if (host == NULL)
        return DPU_OK;

    if (t->direction == DPU_XFER_TO_DPU)
        dpulib_place_write(&t->place, dpu->machine, 0, t->place.size, host);
    else
        dpulib_place_read(&t->place, dpu->machine, 0, t->place.size, host);
    return DPU_OK;
}

static void release_transfer(void *argument)
{
    struct dpulib_transfer *t = argument;
    free(t->table);
    free(t);
}

static enum dpulib_job_kind job_kind(const struct dpulib_transfer *t, bool broadcast, bool parallel)
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

dpu_error_t dpulib_transfer_submit(struct dpu_set_t set, struct dpulib_transfer *transfer,
                                   bool broadcast, dpu_xfer_flags_t flags)
{
    bool parallel = (flags & DPU_XFER_PARALLEL) != 0 && transfer->place.memory == DPU_PLACE_WRAM;
    bool to_dpu = transfer->direction == DPU_XFER_TO_DPU;
    enum dpulib_move move = to_dpu ? DPULIB_PARALLEL_TO : DPULIB_PARALLEL_FROM;
    if (set.kind == DPU_SET_DPU)
        move = to_dpu ? DPULIB_SERIAL_TO : DPULIB_SERIAL_FROM;
    else if (transfer->table == NULL)
        move = DPULIB_BROADCAST;
    const struct dpulib_spec spec = {
        .kind = job_kind(transfer, broadcast, parallel),
        .run = run_transfer,
        .argument = transfer,
        .release = release_transfer,
        .bytes = transfer->place.size,
        .move = move,
        .moved = transfer->table,
        .parallel = parallel,
    };
    return dpulib_submit(set, &spec, (flags & DPU_XFER_ASYNC) != 0);
}

dpu_error_t dpulib_find_symbol(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol)
{
    struct dpu_program_t *program;
    dpu_error_t error = dpulib_check_set(set);
    if (error == DPU_OK)
        error = dpulib_common_program(set, &program);
    if (error != DPU_OK)
        return error;

    error = dpu_get_symbol(program, name, symbol);
    dpu_free_program(program);
    return error;
}

dpu_error_t dpulib_check_place(struct dpu_set_t set, const struct dpulib_place *place)
{
    /* The machine cannot go away while the lock is held. */
    dpulib_lock();
    dpu_error_t error = dpulib_check_set_locked(set);
    const struct dpu_t *dpu = NULL;
    if (error == DPU_OK)
        dpu = dpulib_next_dpu(&set, &(struct dpulib_cursor){0});
    if (dpu != NULL)
        error = dpulib_place_check(place, dpu->machine);
    dpulib_unlock();
    return error;
}

/* --- the same for all, and from one --- */

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
