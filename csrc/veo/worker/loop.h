/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.h: executing the requests of a context.
 */
#ifndef VEOW_LOOP_H
#define VEOW_LOOP_H

#include <stddef.h>

#include "veo/wire.h"

/* Executes the requests of a context on this thread, until one of them ends it. */
void veow_run_context(struct wire_context *wire);

/* Starts a thread that does so. 0 or an errno. */
int veow_start_context(struct wire_context *wire, size_t stack_size);

#endif
