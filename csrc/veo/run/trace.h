/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h: a line for each instruction that VE code executes, in the file that VEORUN_TRACE names
 * (see csrc/veo/machine/trace.h). All threads write to it; lines are whole.
 */
#ifndef VERUN_TRACE_H
#define VERUN_TRACE_H

#include "veo/machine/core.h"

/* Has the core write its trace, if one is asked for; a file that cannot be opened is reported on
 * stderr, once. */
void verun_trace_attach(struct ve_core *core);

#endif
