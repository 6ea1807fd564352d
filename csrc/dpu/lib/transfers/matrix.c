/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: the functions of dpu_transfer_matrix.h. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_transfer_matrix.h"

#include <string.h>

/* Most functions give nothing back: with a NULL pointer they do nothing. */

DPU_EXPORT void dpu_transfer_matrix_add_dpu(struct dpu_t *dpu,
                                            struct dpu_transfer_matrix *transfer_matrix,
                                            void *buffer)
{
    if (dpu != NULL && transfer_matrix != NULL)
        transfer_matrix->ptr[dpulib_dpu_index(dpu)] = buffer;
}

DPU_EXPORT dpu_error_t dpu_transfer_matrix_add_dpu_block(
    struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix, void *buffer, uint32_t length)
{
    if (dpu == NULL)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "the DPU is NULL");
    if (transfer_matrix == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the matrix is NULL");
    if (transfer_matrix->type != DPU_SG_XFER_MATRIX)
        return dpulib_fail(DPU_ERR_INTERNAL, "the matrix is not of type DPU_SG_XFER_MATRIX");

    struct sg_xfer_buffer *list = transfer_matrix->sg_ptr[dpulib_dpu_index(dpu)];
    if (list == NULL || list->blocks_addr == NULL || list->blocks_length == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the matrix has no list of blocks for the DPU");

    if (list->nr_blocks >= list->max_nr_blocks)
        return dpulib_fail(DPU_ERR_INTERNAL, "the list has room for %u blocks, and they are there",
                           list->max_nr_blocks);

    list->blocks_addr[list->nr_blocks] = buffer;
    list->blocks_length[list->nr_blocks++] = length;
    return DPU_OK;
}

DPU_EXPORT void dpu_transfer_matrix_set_all(struct dpu_rank_t *rank,
                                            struct dpu_transfer_matrix *transfer_matrix,
                                            void *buffer)
{
    if (rank == NULL || transfer_matrix == NULL)
        return;
    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++)
        transfer_matrix->ptr[i] = rank->dpus[i].enabled ? buffer : NULL;
}

DPU_EXPORT void dpu_transfer_matrix_clear_dpu(struct dpu_t *dpu,
                                              struct dpu_transfer_matrix *transfer_matrix)
{
    dpu_transfer_matrix_add_dpu(dpu, transfer_matrix, NULL);
}

DPU_EXPORT void dpu_transfer_matrix_clear_all(struct dpu_rank_t *rank,
                                              struct dpu_transfer_matrix *transfer_matrix)
{
    (void)rank;
    if (transfer_matrix != NULL)
        memset(transfer_matrix, 0, sizeof *transfer_matrix);
}

DPU_EXPORT void dpu_transfer_matrix_copy(struct dpu_transfer_matrix *dst,
                                         struct dpu_transfer_matrix *src)
{
    if (dst != NULL && src != NULL)
        *dst = *src;
}

DPU_EXPORT void *dpu_transfer_matrix_get_ptr(struct dpu_t *dpu,
                                             struct dpu_transfer_matrix *transfer_matrix)
{
    if (dpu == NULL || transfer_matrix == NULL)
        return NULL;
    return dpu->enabled ? transfer_matrix->ptr[dpulib_dpu_index(dpu)] : NULL;
}
