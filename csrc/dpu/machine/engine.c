/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include "drift.h"
#include "observed.h"
#include "program.h"
#include "turns.h"

const struct dpu_engine *dpu_choose_engine(const struct dpu_machine *m, bool steps)
{
    if (dpu_is_observed(m))
        return &dpu_engine_observed;
    if (steps || m->options.engine == DPU_ENGINE_TURNS || m->program->needs_turns)
        return &dpu_engine_turns;
    return &dpu_engine_drift;
}

const char *dpu_machine_engine_name(const struct dpu_machine *m)
{
    return m->engine != NULL ? m->engine->name : "";
}
