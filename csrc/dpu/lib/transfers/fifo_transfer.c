/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fifo_transfer.c: elements into and out of FIFOs in WRAM, whose layout is in fifo.c.
 *
 * The host looks at a FIFO while the DPU stands still between two instructions, and so sees both
 * halves of a position as the program wrote them if it wrote them by one `sd`.
 */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/transfers/fifo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_POSITION = 0, WRITE_POSITION = 8, POSITIONS_SIZE = 16 };

struct push {
    bool input;
    const struct dpu_fifo_link_t *link; /* NULL: there is one rank, with this FIFO */
    struct dpu_fifo_rank_t *fifo;
    struct dpulib_table *buffers; /* NULL for what is done, or takes no part */
};

static struct dpu_fifo_rank_t *fifo_for(const struct push *push, const struct dpu_t *dpu)
{
    return push->link != NULL ? dpulib_fifo_of(push->link, dpu->rank) : push->fifo;
}

/* Where NAME is. */
static uint8_t *structure_of(const struct dpu_fifo_rank_t *fifo, const struct dpu_t *dpu)
{
    return dpu_machine_wram(dpu->machine, 4 * fifo->fifo_pointers_matrix.offset, POSITIONS_SIZE,
                            true);
}

/* Where the elements are. */
static uint8_t *elements_of(const struct dpu_fifo_rank_t *fifo, const struct dpu_t *dpu)
{
    return dpu_machine_wram(dpu->machine, 4 * (uint32_t)fifo->dpu_fifo_address,
                            (size_t)fifo->dpu_fifo_data_size << fifo->dpu_fifo_ptr_size, true);
}

/* The structure belongs to the host, which may have changed it. */
static dpu_error_t check_fifo(const struct dpu_fifo_rank_t *fifo, const struct dpu_rank_t *rank)
{
    const uint64_t wram = (uint64_t)rank->description->hw.memories.wram_size * 4;
    const uint64_t structure = (uint64_t)fifo->fifo_pointers_matrix.offset * 4;
    const uint64_t elements = (uint64_t)fifo->dpu_fifo_address * 4;
    if (fifo->dpu_fifo_ptr_size > DPULIB_FIFO_BITS_MAX || structure + POSITIONS_SIZE > wram ||
        elements + ((uint64_t)fifo->dpu_fifo_data_size << fifo->dpu_fifo_ptr_size) > wram)
        return dpulib_fail(
            DPU_ERR_INVALID_WRAM_ACCESS,
            "the FIFO is not in WRAM: 2^%u elements of %u bytes at 0x%llx, positions "
            "at 0x%llx",
            fifo->dpu_fifo_ptr_size, fifo->dpu_fifo_data_size, (unsigned long long)elements,
            (unsigned long long)structure);
    return DPU_OK;
}

static dpu_error_t run_push(struct dpu_t *dpu, void *argument)
{
    struct push *push = argument;
    struct dpu_fifo_rank_t *fifo = fifo_for(push, dpu);
    void **buffer = dpulib_table_entry(push->buffers, dpu);
    if (*buffer == NULL)
        return DPU_OK;

    uint8_t *structure = structure_of(fifo, dpu);
    uint64_t *positions = &fifo->dpu_fifo_pointers[(size_t)2 * dpulib_dpu_index(dpu)];
    const uint64_t count = UINT64_C(1) << fifo->dpu_fifo_ptr_size;
    memcpy(positions, structure, POSITIONS_SIZE);
    if (positions[1] - positions[0] >= count)
        return DPU_OK;

    size_t at = (size_t)(positions[1] & (count - 1)) * fifo->dpu_fifo_data_size;
    memcpy(elements_of(fifo, dpu) + at, *buffer, fifo->dpu_fifo_data_size);
    positions[1]++;
    memcpy(structure + WRITE_POSITION, &positions[1], sizeof positions[1]);
    *buffer = NULL;
    return DPU_OK;
}

/* The buffer has the elements where the FIFO has them; get_fifo_elem() finds them. */
static dpu_error_t run_flush(struct dpu_t *dpu, void *argument)
{
    struct push *push = argument;
    struct dpu_fifo_rank_t *fifo = fifo_for(push, dpu);
    void **buffer = dpulib_table_entry(push->buffers, dpu);
    uint8_t *structure = structure_of(fifo, dpu);
    uint64_t *positions = &fifo->dpu_fifo_pointers[(size_t)2 * dpulib_dpu_index(dpu)];
    memcpy(positions, structure, POSITIONS_SIZE);
    if (*buffer == NULL) {
        /* Its elements stay where they are, and none have come. */
        positions[1] = positions[0];
        return DPU_OK;
    }

    if (positions[1] != positions[0])
        memcpy(*buffer, elements_of(fifo, dpu),
               (size_t)fifo->dpu_fifo_data_size << fifo->dpu_fifo_ptr_size);
    memcpy(structure + READ_POSITION, &positions[1], sizeof positions[1]);
    *buffer = NULL;
    return DPU_OK;
}

static bool is_finished(const struct dpulib_table *buffers)
{
    for (uint32_t i = 0; i < buffers->nr_ranks; i++)
        for (uint32_t j = 0; j < DPULIB_RANK_SIZE; j++)
            if (buffers->ranks[i].entries[j] != NULL)
                return false;
    return true;
}

/* A program that takes elements makes room; the DPU must run while this waits. */
static dpu_error_t push_until_finished(struct dpu_set_t set, struct push *push)
{
    const struct dpulib_spec spec = {
        .kind = push->input ? DPULIB_JOB_PARALLEL_WRAM_TO_FIFO : DPULIB_JOB_PARALLEL_WRAM_FROM_FIFO,
        .run = push->input ? run_push : run_flush,
        .argument = push,
        .parallel = true,
    };
    const struct dpu_t *dpu = dpulib_next_dpu(&set, &(struct dpulib_cursor){0});
    if (dpu == NULL)
        return DPU_OK;

    const struct dpu_fifo_rank_t *fifo = fifo_for(push, dpu);
    for (uint32_t retries = 0;; retries++) {
        dpu_error_t error = dpulib_submit(set, &spec, false);
        if (error != DPU_OK || is_finished(push->buffers))
            return error;

        if (retries >= fifo->max_retries)
            return dpulib_fail(DPU_ERR_WRAM_FIFO_FULL,
                               "no room after %u retries, %u microseconds apart: does the "
                               "program run, and take elements?",
                               fifo->max_retries, fifo->time_for_retry);
        usleep(fifo->time_for_retry);
    }
}

static dpu_error_t check_link(struct dpu_set_t set, const struct dpu_fifo_link_t *link)
{
    struct dpu_t *dpu;
    dpu_error_t error = dpulib_check_set(set);
    if (error != DPU_OK)
        return error;

    for (struct dpulib_cursor at = {0};
         error == DPU_OK && (dpu = dpulib_next_dpu(&set, &at)) != NULL;) {
        const struct dpu_fifo_rank_t *fifo = dpulib_fifo_of(link, dpu->rank);
        if (fifo == NULL)
            return dpulib_fail(DPU_ERR_INVALID_DPU_SET,
                               "the link to the FIFO was made for other ranks, or is freed");
        error = check_fifo(fifo, dpu->rank);
    }

    return error;
}

static void prepare(struct dpu_set_t set, struct dpu_fifo_link_t *link, void *buffer)
{
    struct dpu_t *dpu;
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
        dpulib_fifo_of(link, dpu->rank)->transfer_matrix.ptr[dpulib_dpu_index(dpu)] = buffer;
}

DPU_EXPORT dpu_error_t dpu_fifo_prepare_xfer(struct dpu_set_t dpu_set,
                                             struct dpu_fifo_link_t *fifo_link, void *buffer)
{
    dpu_error_t error = check_link(dpu_set, fifo_link);
    if (error == DPU_OK)
        prepare(dpu_set, fifo_link, buffer);
    return error;
}

/* Also with DPU_XFER_ASYNC it is over when this returns. */
DPU_EXPORT dpu_error_t dpu_fifo_push_xfer(struct dpu_set_t dpu_set,
                                          struct dpu_fifo_link_t *fifo_link, dpu_xfer_flags_t flags)
{
    struct dpu_t *dpu;
    dpu_error_t error = check_link(dpu_set, fifo_link);
    if (error != DPU_OK)
        return error;

    struct push push = {
        .input = fifo_link->direction == DPU_INPUT_FIFO,
        .link = fifo_link,
        .buffers = dpulib_table_new(&dpu_set),
    };
    if (push.buffers == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&dpu_set, &at)) != NULL;)
        *dpulib_table_entry(push.buffers, dpu) =
            dpulib_fifo_of(fifo_link, dpu->rank)->transfer_matrix.ptr[dpulib_dpu_index(dpu)];

    error = push_until_finished(dpu_set, &push);
    free(push.buffers);
    if ((flags & DPU_XFER_NO_RESET) == 0)
        prepare(dpu_set, fifo_link, NULL);
    return error;
}

/* --- ranks --- */

static dpu_error_t transfer_rank(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo,
                                 const struct dpu_transfer_matrix *matrix, bool input)
{
    struct dpu_t *dpu;
    struct dpu_set_t set = {.kind = DPU_SET_RANKS, .list = {1, &rank}};
    dpu_error_t error = dpulib_check_set(set);
    if (error != DPU_OK)
        return error;
    if (fifo == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the FIFO is NULL");

    if (matrix == NULL || matrix->type != DPU_DEFAULT_XFER_MATRIX)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                           "the matrix is NULL, or of type DPU_SG_XFER_MATRIX");

    error = check_fifo(fifo, rank);
    if (error != DPU_OK)
        return error;

    struct push push = {.input = input, .fifo = fifo, .buffers = dpulib_table_new(&set)};
    if (push.buffers == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
        *dpulib_table_entry(push.buffers, dpu) = matrix->ptr[dpulib_dpu_index(dpu)];

    error = push_until_finished(set, &push);
    free(push.buffers);
    return error;
}

DPU_EXPORT dpu_error_t dpu_copy_to_wram_fifo(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo,
                                             struct dpu_transfer_matrix *transfer_matrix)
{
    return transfer_rank(rank, fifo, transfer_matrix, true);
}

DPU_EXPORT dpu_error_t dpu_copy_from_wram_fifo(struct dpu_rank_t *rank,
                                               struct dpu_fifo_rank_t *fifo,
                                               struct dpu_transfer_matrix *transfer_matrix)
{
    return transfer_rank(rank, fifo, transfer_matrix, false);
}
