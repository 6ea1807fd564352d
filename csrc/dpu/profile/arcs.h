/* SPDX-License-Identifier: BSD-3-Clause */
/* arcs.h: a table of calls, by their instruction and by what they call. Memory of zeros is an empty
 * one. */
#ifndef OFFCHIP_DPU_PROFILE_ARCS_H
#define OFFCHIP_DPU_PROFILE_ARCS_H

#include "dpu/profile/profile.h"

#define DPU_ARCS 8192

struct dpu_arcs {
    uint32_t count;
    struct dpu_profile_call rows[DPU_ARCS]; /* those with calls are in use */
};

/* The row of a call, which is new if its count is 0: then it must not stay so. NULL if the table is
 * full. */
struct dpu_profile_call *dpu_arcs_find(struct dpu_arcs *arcs, uint32_t site, uint32_t target);

#endif
