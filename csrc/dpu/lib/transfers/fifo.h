/* SPDX-License-Identifier: BSD-3-Clause */
/* fifo.h: what links to FIFOs in WRAM and transfers to and from them share. */
#ifndef OFFCHIP_DPU_FIFO_H
#define OFFCHIP_DPU_FIFO_H

#include "dpu/lib/ranks/table.h"
#include "dpu_transfer_matrix.h"

#include "dpu_fifo.h"

/* A FIFO has at most 2 to the power of this elements. */
#define DPULIB_FIFO_BITS_MAX 10

/* The FIFO of a rank; NULL if the link, which may be NULL or freed, was made for others. */
struct dpu_fifo_rank_t *dpulib_fifo_of(const struct dpu_fifo_link_t *link,
                                       const struct dpu_rank_t *rank);

#endif
