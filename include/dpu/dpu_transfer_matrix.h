/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_transfer_matrix.h: a host buffer for each DPU of a rank. */
#ifndef DPU_TRANSFER_MATRIX_H
#define DPU_TRANSFER_MATRIX_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_NR_DPUS_PER_RANK 64

/*
 * For functions of dpu_memory.h. Entry slice * (members of a slice) + member; NULL for a DPU that
 * takes no part. For transfers of WRAM and IRAM offset and size count words and instructions, for
 * those of MRAM bytes.
 *
 * Of a matrix of type DPU_SG_XFER_MATRIX, for MRAM only, the entries are lists of blocks, which are
 * one after the other in MRAM. What they have too much is left out; what is missing becomes 0 in
 * MRAM. The caller makes the lists, with room for max_nr_blocks.
 */
struct dpu_transfer_matrix {
    union {
        void *ptr[MAX_NR_DPUS_PER_RANK];
        struct sg_xfer_buffer *sg_ptr[MAX_NR_DPUS_PER_RANK];
    };
    uint32_t offset;
    uint32_t size;
    uint8_t type; /* a dpu_transfer_matrix_type_t */
};

void dpu_transfer_matrix_add_dpu(struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix,
                                 void *buffer);
/* Appends a block to the list of a DPU. */
dpu_error_t dpu_transfer_matrix_add_dpu_block(struct dpu_t *dpu,
                                              struct dpu_transfer_matrix *transfer_matrix,
                                              void *buffer, uint32_t length);
void dpu_transfer_matrix_set_all(struct dpu_rank_t *rank,
                                 struct dpu_transfer_matrix *transfer_matrix, void *buffer);
void dpu_transfer_matrix_clear_dpu(struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix);
void dpu_transfer_matrix_clear_all(struct dpu_rank_t *rank,
                                   struct dpu_transfer_matrix *transfer_matrix);
void dpu_transfer_matrix_copy(struct dpu_transfer_matrix *dst, struct dpu_transfer_matrix *src);
void *dpu_transfer_matrix_get_ptr(struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix);

#ifdef __cplusplus
}
#endif

#endif
