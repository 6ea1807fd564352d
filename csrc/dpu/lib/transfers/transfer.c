/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: what all copies have in common. */
#include "dpu/lib/transfers/transfer.h"

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
