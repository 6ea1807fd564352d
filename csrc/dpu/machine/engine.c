/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include "dram.h"
#include "drift.h"
#include "issue.h"
#include "observed.h"
#include "program.h"
#include "turns.h"

/* The switches with which drift was compared with turns, on random programs. */
#define COMPARED \
    (DPU_SWITCH_SMALL_IS_PRODUCT | DPU_SWITCH_FAULT_STOPS_ACCESS | DPU_SWITCH_WRAM_32_BITS | \
     DPU_SWITCH_STEP_COPIES_PAIR | DPU_SWITCH_UNDECODABLE_FAULTS | DPU_SWITCH_MRAM_26_BITS | \
     DPU_SWITCH_DMA_ALIGNMENT_FAULTS | DPU_SWITCH_CLS_COUNTS_SIGN)

static bool needs_turns(const struct dpu_machine *m)
{
    return m->program->needs_turns || dpu_issue_varies(m) || dpu_dram_reorders(m) ||
           m->options.cache_kib != 0 || (m->options.switches & ~(uint32_t)COMPARED) != 0;
}

const struct dpu_engine *dpu_choose_engine(const struct dpu_machine *m, bool steps)
{
    if (dpu_is_observed(m))
        return &dpu_engine_observed;
    if (steps || m->options.engine == DPU_ENGINE_TURNS || needs_turns(m))
        return &dpu_engine_turns;
    return &dpu_engine_drift;
}

const char *dpu_machine_engine_name(const struct dpu_machine *m)
{
    return m->engine != NULL ? m->engine->name : "";
}
