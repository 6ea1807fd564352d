/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * issue.h: pipelines in which the length of a round depends on its instructions: results are
 * forwarded, or registers of one bank are read one after the other. Rounds are run one by one then.
 */
#ifndef OFFCHIP_DPU_ISSUE_H
#define OFFCHIP_DPU_ISSUE_H

#include "machine_state.h"

static inline bool dpu_issue_varies(const struct dpu_machine *m)
{
    return (m->options.forwarding | m->options.hazard) != 0 &&
           m->options.accounting != DPU_ACCOUNTING_VENDOR;
}

/* Makes dpu_round_cycles() what the next round of m->order lasts, and returns how many rounds of
 * ROUNDS may be run: 1. In other pipelines, all. */
uint64_t dpu_issue_rounds(struct dpu_machine *machine, uint64_t rounds);
void dpu_issue_free(struct dpu_machine *machine);

#endif
