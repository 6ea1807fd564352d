/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h: a line for each instruction that VE code executes, in the file that VEORUN_TRACE names
 * (see csrc/veo/machine/trace.h), with VEORUN_TRACE_ELEMENTS elements of vectors. All threads write
 * to it; lines are whole, and one that begins with # says where another function or thread goes on.
 */
#ifndef VERUN_TRACE_H
#define VERUN_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/text.h"
#include "veo/link/error.h"
#include "veo/machine/core.h"

/* Writes where an address is, and finds the addresses of its function, from LOW and below HIGH. */
typedef void verun_place(uint64_t address, struct text *text, uint64_t *low, uint64_t *high);

/*
 * Opens the file, if one is named; PLACE, or NULL, is for its lines that say where. False if it
 * cannot be opened, or the number of elements is none (error set).
 */
bool verun_trace_ready(verun_place *place, struct velink_error *error);
/* Has the core write its trace, if one is asked for. */
void verun_trace_attach(struct ve_core *core);
/* Writes what is left of the file that VARIABLE names; tells on stderr if some of it is lost. */
void verun_trace_flush(FILE *stream, const char *variable);

#endif
