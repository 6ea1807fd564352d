/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter_gather.h: many blocks of host memory for each DPU, one after the other in MRAM. For
 * operations on the DPU. */
#ifndef OFFCHIP_DPU_LIB_SCATTER_GATHER_H
#define OFFCHIP_DPU_LIB_SCATTER_GATHER_H

#include "dpu/lib/transfers/place.h"
#include "dpu/machine/machine.h"
#include "dpu_transfer_matrix.h"

#include <stdbool.h>

/*
 * Copies blocks one after the other to or from a place in MRAM. What they have too much is left
 * out, and what is missing in MRAM becomes 0.
 */
void dpulib_copy_blocks(const struct dpulib_place *place, struct dpu_machine *machine, bool to_dpu,
                        const struct sg_xfer_buffer *blocks);

#endif
