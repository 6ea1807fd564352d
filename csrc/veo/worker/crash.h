/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crash.h: what happens when a kernel crashes, and the names of code addresses.
 *
 * A handler on a stack of its own writes a report into the shared header, ends the requests in
 * progress, and lets the signal end the process.
 */
#ifndef VEOW_CRASH_H
#define VEOW_CRASH_H

#include <stddef.h>
#include <stdint.h>

#include "veo/machine/core.h"

/* Installs the handlers, once. */
void veow_crash_setup(void);

/* An alternate signal stack for this thread (NULL without memory), and its end. */
void *veow_signal_stack_new(void);
void veow_signal_stack_free(void *stack);

/* Ends the process with a report that the host shows; for what is not a signal. Any thread. */
void veow_die(const char *reason) __attribute__((noreturn));

/* The same for VE code that an exception has stopped. */
void veow_ve_exception(const struct ve_core *core) __attribute__((noreturn));

/* Writes "function (library)" of a code address. Any thread. */
void veow_describe(uint64_t address, char *text, size_t size);

#endif
