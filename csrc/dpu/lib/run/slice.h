/* SPDX-License-Identifier: BSD-3-Clause */
/* slice.h: parts of launches, of one DPU or of several at once. */
#ifndef OFFCHIP_DPU_LIB_SLICE_H
#define OFFCHIP_DPU_LIB_SLICE_H

#include "dpu/lib/ranks/rank.h"

#include <stdbool.h>
#include <stdint.h>

/* Waits until nobody else works on the machine of a DPU, and keeps others from it. */
void dpulib_take_turn(struct dpu_t *dpu);
/* A slice of a launch that has begun; with the turn. */
enum dpu_run_status dpulib_slice(struct dpu_t *dpu);

/* Of several: see struct dpulib_together. */
uint32_t dpulib_most_slices(struct dpu_t *dpu, uint32_t share);
bool dpulib_slices_match(struct dpu_t *dpu, struct dpu_t *other);
void dpulib_slice_together(struct dpu_t *const *dpus, uint32_t count,
                           enum dpu_run_status *statuses);

#endif
