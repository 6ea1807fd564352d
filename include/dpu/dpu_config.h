/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_config.h: putting DPUs back to the state of a new one. */
#ifndef DPU_CONFIG_H
#define DPU_CONFIG_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Waits for the rank's queue, then clears faults, registers, flags, atomic and run bits. Memories
 * and programs stay.
 */
dpu_error_t dpu_reset_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_reset_dpu(struct dpu_t *dpu);

#ifdef __cplusplus
}
#endif

#endif
