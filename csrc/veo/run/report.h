/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h: a line for each call of VE code, with the time that a real Vector Engine would take, in
 * the file that VEO_SOFT_REPORT names, for the model that VEO_SOFT_MODEL names (csrc/veo/time).
 *
 * Any thread may call these functions; lines are whole.
 */
#ifndef VERUN_REPORT_H
#define VERUN_REPORT_H

#include "veo/link/error.h"
#include "veo/machine/core.h"

/* True unless a report is asked for and cannot be written, or for a model that there is not: then
 * the error says so. */
bool verun_report_ready(struct velink_error *error);

/* Tells on stderr, at the end of the worker, that a report was asked for and no VE code loaded. */
void verun_report_finish(void);

/* Has the instructions of this thread's core counted, if a report is asked for and there is memory;
 * to be ended in the same thread. */
void verun_report_attach(struct ve_core *core);
void verun_report_detach(void);

/* True if calls of this thread are reported. */
bool verun_report_is_made(void);
/*
 * A call of FUNCTION, whose name is kept by the caller, begins in this thread, and ends. One that
 * never returns ends with its thread or, of the thread that ends the process, with that.
 */
void verun_report_begin(const char *function);
void verun_report_end(void);

/* Adds to the total what this thread has executed outside of such calls, unless it is a thread that
 * another one waits for (team_time.h, thread_time.h). */
void verun_report_settle(void);

#endif
