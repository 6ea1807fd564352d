/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_memory.h: copies by address, rank by rank or DPU by DPU.
 *
 * IRAM is counted in instructions, WRAM in words of 32 bits, MRAM in bytes. These functions wait
 * for the rank's queue and copy before they return. Buffers need no alignment.
 */
#ifndef DPU_MEMORY_H
#define DPU_MEMORY_H

#include "dpu_error.h"
#include "dpu_fifo.h"
#include "dpu_transfer_matrix.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same to every enabled DPU of a rank. */
dpu_error_t dpu_copy_to_iram_for_rank(struct dpu_rank_t *rank, iram_addr_t iram_instruction_index,
                                      const dpuinstruction_t *source,
                                      iram_size_t nb_of_instructions);
dpu_error_t dpu_copy_to_wram_for_rank(struct dpu_rank_t *rank, wram_addr_t wram_word_offset,
                                      const dpuword_t *source, wram_size_t nb_of_words);

/* One DPU. */
dpu_error_t dpu_copy_to_iram_for_dpu(struct dpu_t *dpu, iram_addr_t iram_instruction_index,
                                     const dpuinstruction_t *source,
                                     iram_size_t nb_of_instructions);
dpu_error_t dpu_copy_from_iram_for_dpu(struct dpu_t *dpu, dpuinstruction_t *destination,
                                       iram_addr_t iram_instruction_index,
                                       iram_size_t nb_of_instructions);
dpu_error_t dpu_copy_to_wram_for_dpu(struct dpu_t *dpu, wram_addr_t wram_word_offset,
                                     const dpuword_t *source, wram_size_t nb_of_words);
dpu_error_t dpu_copy_from_wram_for_dpu(struct dpu_t *dpu, dpuword_t *destination,
                                       wram_addr_t wram_word_offset, wram_size_t nb_of_words);
dpu_error_t dpu_copy_to_mram(struct dpu_t *dpu, mram_addr_t mram_byte_offset, const uint8_t *source,
                             mram_size_t nb_of_bytes);
dpu_error_t dpu_copy_from_mram(struct dpu_t *dpu, uint8_t *destination,
                               mram_addr_t mram_byte_offset, mram_size_t nb_of_bytes);

/* A buffer for each DPU; offset and size are in the matrix. */
dpu_error_t dpu_copy_to_iram_for_matrix(struct dpu_rank_t *rank,
                                        struct dpu_transfer_matrix *matrix);
dpu_error_t dpu_copy_from_iram_for_matrix(struct dpu_rank_t *rank,
                                          struct dpu_transfer_matrix *matrix);
dpu_error_t dpu_copy_to_wram_for_matrix(struct dpu_rank_t *rank,
                                        struct dpu_transfer_matrix *transfer_matrix);
dpu_error_t dpu_copy_from_wram_for_matrix(struct dpu_rank_t *rank,
                                          struct dpu_transfer_matrix *transfer_matrix);
dpu_error_t dpu_copy_to_mrams(struct dpu_rank_t *rank, struct dpu_transfer_matrix *transfer_matrix);
dpu_error_t dpu_copy_from_mrams(struct dpu_rank_t *rank,
                                struct dpu_transfer_matrix *transfer_matrix);

/*
 * An element into the input FIFO of each DPU that has a buffer, and what the output FIFO has, as a
 * whole: see dpu_fifo.h, whose links have a structure for each rank. Both also work while the
 * program runs. The matrix has buffers only; offset and size do not matter. When a FIFO stays full
 * the result is DPU_ERR_WRAM_FIFO_FULL, and the other DPUs have their elements.
 */
dpu_error_t dpu_copy_to_wram_fifo(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo,
                                  struct dpu_transfer_matrix *transfer_matrix);
dpu_error_t dpu_copy_from_wram_fifo(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo,
                                    struct dpu_transfer_matrix *transfer_matrix);

#ifdef __cplusplus
}
#endif

#endif
