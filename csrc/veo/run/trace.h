/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h: a line for each instruction that VE code executes, in the file that VEORUN_TRACE names
 * (see csrc/veo/machine/trace.h). All threads write to it; lines are whole.
 */
#ifndef VERUN_TRACE_H
#define VERUN_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "veo/link/error.h"
#include "veo/machine/core.h"

/* Opens the file, if one is named. False if it cannot be opened (error set). */
bool verun_trace_ready(struct velink_error *error);
/* Has the core write its trace, if one is asked for. */
void verun_trace_attach(struct ve_core *core);
/* Writes what is left of the file that VARIABLE names; tells on stderr if some of it is lost. */
void verun_trace_flush(FILE *stream, const char *variable);

#endif
