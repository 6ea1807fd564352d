/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: the functions of dpu_memory.h: copies by address, for a rank or a DPU. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/transfers/place.h"
#include "dpu/lib/transfers/scatter_gather.h"
#include "dpu_memory.h"

struct copy {
    struct dpulib_place place;
    bool to_dpu;
    void *host;                         /* of every DPU, if there is no matrix */
    struct dpu_transfer_matrix *matrix; /* stays as it is until the copy is over */
};

static dpu_error_t copy_list(const struct copy *copy, struct dpu_t *dpu,
                             const struct sg_xfer_buffer *list)
{
    for (uint32_t i = 0; list != NULL && i < list->nr_blocks; i++)
        if (list->blocks_addr[i] == NULL && list->blocks_length[i] != 0)
            return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "block %u of DPU %u is NULL", i,
                               dpulib_dpu_index(dpu));
    if (list != NULL)
        dpulib_copy_blocks(&copy->place, dpu->machine, copy->to_dpu, list);
    return DPU_OK;
}

static dpu_error_t run_copy(struct dpu_t *dpu, void *argument)
{
    const struct copy *copy = argument;
    const uint32_t index = dpulib_dpu_index(dpu);
    if (copy->matrix != NULL && copy->matrix->type == DPU_SG_XFER_MATRIX)
        return copy_list(copy, dpu, copy->matrix->sg_ptr[index]);

    void *host = copy->matrix != NULL ? copy->matrix->ptr[index] : copy->host;
    if (host == NULL)
        return DPU_OK;

    if (copy->to_dpu)
        dpulib_place_write(&copy->place, dpu->machine, 0, copy->place.size, host);
    else
        dpulib_place_read(&copy->place, dpu->machine, 0, copy->place.size, host);
    return DPU_OK;
}

/* Makes bytes of what IRAM and WRAM are counted in; what that is too large for is outside. */
static struct dpulib_place place_of(enum dpulib_place_memory memory, uint64_t offset, uint64_t size)
{
    static const uint32_t units[] = {
        [DPU_PLACE_WRAM] = 4, [DPU_PLACE_MRAM] = 1, [DPU_PLACE_IRAM] = 8};
    offset *= units[memory];
    size *= units[memory];
    return (struct dpulib_place){.memory = memory,
                                 .offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX,
                                 .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX};
}

static dpu_error_t resolve_copy(const struct dpu_set_t *set, struct dpulib_spec *spec)
{
    const struct copy *copy = spec->argument;
    spec->nothing = copy->place.size == 0;
    dpu_error_t error = dpulib_place_check(&copy->place, set);
    if (error == DPU_OK && !spec->nothing && copy->host == NULL && copy->matrix == NULL)
        error = dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "the buffer must not be NULL");
    return error;
}

static dpu_error_t on_rank(struct dpu_rank_t *rank, struct copy copy)
{
    enum dpulib_move move = copy.to_dpu ? DPULIB_PARALLEL_TO : DPULIB_PARALLEL_FROM;
    return dpulib_run_on_rank(
        rank, &(struct dpulib_spec){.run = run_copy,
                                    .argument = &copy,
                                    .resolve = resolve_copy,
                                    .bytes = copy.place.size,
                                    .by_commands = copy.place.memory != DPU_PLACE_MRAM,
                                    .move = copy.matrix == NULL ? DPULIB_BROADCAST : move});
}

static dpu_error_t on_dpu(struct dpu_t *dpu, struct copy copy)
{
    return dpulib_run_on_dpu(
        dpu, &(struct dpulib_spec){.run = run_copy,
                                   .argument = &copy,
                                   .resolve = resolve_copy,
                                   .bytes = copy.place.size,
                                   .by_commands = copy.place.memory != DPU_PLACE_MRAM,
                                   .move = copy.to_dpu ? DPULIB_SERIAL_TO : DPULIB_SERIAL_FROM});
}

/* The copy only reads what it is given to read. */
static void *source_of(const void *source)
{
    return (void *)(uintptr_t)source;
}

/* --- IRAM --- */

DPU_EXPORT dpu_error_t dpu_copy_to_iram_for_rank(struct dpu_rank_t *rank,
                                                 iram_addr_t iram_instruction_index,
                                                 const dpuinstruction_t *source,
                                                 iram_size_t nb_of_instructions)
{
    return on_rank(
        rank, (struct copy){place_of(DPU_PLACE_IRAM, iram_instruction_index, nb_of_instructions),
                            true, source_of(source), NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_to_iram_for_dpu(struct dpu_t *dpu,
                                                iram_addr_t iram_instruction_index,
                                                const dpuinstruction_t *source,
                                                iram_size_t nb_of_instructions)
{
    return on_dpu(
        dpu, (struct copy){place_of(DPU_PLACE_IRAM, iram_instruction_index, nb_of_instructions),
                           true, source_of(source), NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_from_iram_for_dpu(struct dpu_t *dpu, dpuinstruction_t *destination,
                                                  iram_addr_t iram_instruction_index,
                                                  iram_size_t nb_of_instructions)
{
    return on_dpu(
        dpu, (struct copy){place_of(DPU_PLACE_IRAM, iram_instruction_index, nb_of_instructions),
                           false, destination, NULL});
}

static dpu_error_t by_matrix(struct dpu_rank_t *rank, struct dpu_transfer_matrix *matrix,
                             enum dpulib_place_memory memory, bool to_dpu)
{
    if (matrix == NULL)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "the matrix is NULL");
    if (matrix->type == DPU_SG_XFER_MATRIX && memory != DPU_PLACE_MRAM)
        return dpulib_fail(DPU_ERR_SG_NOT_MRAM_SYMBOL,
                           "a matrix of type DPU_SG_XFER_MATRIX is for MRAM only");
    return on_rank(
        rank, (struct copy){place_of(memory, matrix->offset, matrix->size), to_dpu, NULL, matrix});
}

DPU_EXPORT dpu_error_t dpu_copy_to_iram_for_matrix(struct dpu_rank_t *rank,
                                                   struct dpu_transfer_matrix *matrix)
{
    return by_matrix(rank, matrix, DPU_PLACE_IRAM, true);
}

DPU_EXPORT dpu_error_t dpu_copy_from_iram_for_matrix(struct dpu_rank_t *rank,
                                                     struct dpu_transfer_matrix *matrix)
{
    return by_matrix(rank, matrix, DPU_PLACE_IRAM, false);
}

/* --- WRAM --- */

DPU_EXPORT dpu_error_t dpu_copy_to_wram_for_rank(struct dpu_rank_t *rank,
                                                 wram_addr_t wram_word_offset,
                                                 const dpuword_t *source, wram_size_t nb_of_words)
{
    return on_rank(rank, (struct copy){place_of(DPU_PLACE_WRAM, wram_word_offset, nb_of_words),
                                       true, source_of(source), NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_to_wram_for_dpu(struct dpu_t *dpu, wram_addr_t wram_word_offset,
                                                const dpuword_t *source, wram_size_t nb_of_words)
{
    return on_dpu(dpu, (struct copy){place_of(DPU_PLACE_WRAM, wram_word_offset, nb_of_words), true,
                                     source_of(source), NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_from_wram_for_dpu(struct dpu_t *dpu, dpuword_t *destination,
                                                  wram_addr_t wram_word_offset,
                                                  wram_size_t nb_of_words)
{
    return on_dpu(dpu, (struct copy){place_of(DPU_PLACE_WRAM, wram_word_offset, nb_of_words), false,
                                     destination, NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_to_wram_for_matrix(struct dpu_rank_t *rank,
                                                   struct dpu_transfer_matrix *transfer_matrix)
{
    return by_matrix(rank, transfer_matrix, DPU_PLACE_WRAM, true);
}

DPU_EXPORT dpu_error_t dpu_copy_from_wram_for_matrix(struct dpu_rank_t *rank,
                                                     struct dpu_transfer_matrix *transfer_matrix)
{
    return by_matrix(rank, transfer_matrix, DPU_PLACE_WRAM, false);
}

/* --- MRAM --- */

DPU_EXPORT dpu_error_t dpu_copy_to_mram(struct dpu_t *dpu, mram_addr_t mram_byte_offset,
                                        const uint8_t *source, mram_size_t nb_of_bytes)
{
    return on_dpu(dpu, (struct copy){place_of(DPU_PLACE_MRAM, mram_byte_offset, nb_of_bytes), true,
                                     source_of(source), NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_from_mram(struct dpu_t *dpu, uint8_t *destination,
                                          mram_addr_t mram_byte_offset, mram_size_t nb_of_bytes)
{
    return on_dpu(dpu, (struct copy){place_of(DPU_PLACE_MRAM, mram_byte_offset, nb_of_bytes), false,
                                     destination, NULL});
}

DPU_EXPORT dpu_error_t dpu_copy_to_mrams(struct dpu_rank_t *rank,
                                         struct dpu_transfer_matrix *transfer_matrix)
{
    return by_matrix(rank, transfer_matrix, DPU_PLACE_MRAM, true);
}

DPU_EXPORT dpu_error_t dpu_copy_from_mrams(struct dpu_rank_t *rank,
                                           struct dpu_transfer_matrix *transfer_matrix)
{
    return by_matrix(rank, transfer_matrix, DPU_PLACE_MRAM, false);
}
