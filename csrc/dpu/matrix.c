/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: the functions of dpu_transfer_matrix.h. */
#include "dpu/internal.h"

#include "dpu_transfer_matrix.h"

#include <string.h>

/* The functions give nothing back: with a NULL pointer they do nothing. */

DPU_EXPORT void dpu_transfer_matrix_add_dpu(struct dpu_t *dpu,
                                            struct dpu_transfer_matrix *transfer_matrix,
                                            void *buffer)
{
    if (dpu != NULL && transfer_matrix != NULL)
        transfer_matrix->ptr[dpulib_dpu_index(dpu)] = buffer;
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
