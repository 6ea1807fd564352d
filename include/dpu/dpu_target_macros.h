/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_target_macros.h: the number of a rank has the type of its target in the highest bits. */
#ifndef DPU_TARGET_MACROS_H
#define DPU_TARGET_MACROS_H

#include "dpu_target.h"
#include "dpu_types.h"

#define DPU_TARGET_LOG2_SIZE 4
#define DPU_TARGET_SHIFT (8 * sizeof(dpu_rank_id_t) - DPU_TARGET_LOG2_SIZE)
/* Mask for what dpu_get_rank_id() returns, without the type. */
#define DPU_TARGET_MASK ((1 << DPU_TARGET_SHIFT) - 1)

#endif
