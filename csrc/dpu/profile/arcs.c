/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/profile/arcs.h"

/* So that one is found, or found to be absent, in a few steps. */
#define MOST (DPU_ARCS / 4 * 3)

struct dpu_profile_call *dpu_arcs_find(struct dpu_arcs *arcs, uint32_t site, uint32_t target)
{
    uint32_t at = (site * 31 + target) % DPU_ARCS;
    while (arcs->rows[at].count != 0) {
        if (arcs->rows[at].site == site && arcs->rows[at].target == target)
            return &arcs->rows[at];
        at = (at + 1) % DPU_ARCS;
    }

    if (arcs->count == MOST)
        return NULL;
    arcs->count++;
    arcs->rows[at].site = (uint16_t)site;
    arcs->rows[at].target = (uint16_t)target;
    return &arcs->rows[at];
}
