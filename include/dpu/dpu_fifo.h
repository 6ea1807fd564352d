/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_fifo.h: FIFOs in WRAM between the host and a program that runs.
 *
 * Elements go to an input FIFO, or come from an output FIFO, of each DPU by
 * dpu_fifo_prepare_xfer() and dpu_fifo_push_xfer() of dpu.h.
 */
#ifndef DPU_FIFO_H
#define DPU_FIFO_H

#include "dpu_error.h"
#include "dpu_transfer_matrix.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The FIFOs of one rank, as the host last saw them. */
struct dpu_fifo_rank_t {
    uint8_t dpu_fifo_ptr_size; /* bits of a position: there are 1 << this elements */
    uint32_t dpu_fifo_address; /* in words */
    uint32_t dpu_fifo_data_size;
    uint64_t dpu_fifo_pointers[MAX_NR_DPUS_PER_RANK * 2]; /* positions to read, to write */
    struct dpu_transfer_matrix fifo_pointers_matrix;
    struct dpu_transfer_matrix transfer_matrix;
    uint32_t max_retries;
    uint32_t time_for_retry; /* microseconds */
};

enum dpu_fifo_direction_t { DPU_INPUT_FIFO, DPU_OUTPUT_FIFO };

struct dpu_fifo_link_t {
    enum dpu_fifo_direction_t direction;
    struct dpu_symbol_t fifo_symbol;
    struct dpu_fifo_rank_t *rank_fifos; /* one per rank */
};

/* Makes a link to the FIFO of that name; dpu_fifo_link_free() frees what it has. */
dpu_error_t dpu_link_input_fifo(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *link,
                                char *fifo_name);
dpu_error_t dpu_link_output_fifo(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *link,
                                 char *fifo_name);
dpu_error_t dpu_fifo_link_free(struct dpu_fifo_link_t *fifo_link);

/* How many elements came from the output FIFO of a DPU, and the one of number I; FIFO_DATA is the
 * buffer that was prepared for the DPU. */
uint16_t get_fifo_size(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu);
uint8_t *get_fifo_elem(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu, uint8_t *fifo_data,
                       uint8_t i);

/* Where that element is in the buffer, counted in elements. */
uint8_t get_fifo_elem_index(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu, uint8_t i);

/* The positions of a DPU's FIFO as the host last saw them, and as indexes of elements; the most
 * elements that are in the FIFO of any DPU of the rank. */
uint64_t get_fifo_abs_rd_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu);
uint64_t get_fifo_abs_wr_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu);
uint8_t get_fifo_rd_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu);
uint8_t get_fifo_wr_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu);
uint16_t get_fifo_max_size(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo);

/* How often, and after how long, a push to a full FIFO is tried again. */
void dpu_fifo_set_push_max_retries(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu_set,
                                   uint32_t max_retries);
void dpu_fifo_set_time_for_push_retries(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu_set,
                                        uint32_t time_us);

#ifdef __cplusplus
}
#endif

#endif
