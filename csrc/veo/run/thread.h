/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread.h: VE code on a thread of the host: its core, its stack and its thread-local variables.
 *
 * Each thread has its own, made when it first calls VE code and freed when it ends.
 */
#ifndef VERUN_THREAD_H
#define VERUN_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/link/library.h"
#include "veo/machine/core.h"

/* The part of a frame that callees save registers in; arguments follow it. */
#define VERUN_FRAME_ARGUMENTS 176

struct verun_thread {
    struct ve_core *core;
    uint8_t *stack; /* a page that cannot be accessed, then the stack */
    uint8_t *area;  /* of thread-local variables */
    uint64_t pointer;
    uint64_t initialised; /* variables of this many libraries have their first content */
    unsigned depth;       /* of calls */
};

/* This thread's. NULL without memory. */
struct verun_thread *verun_thread(void);

/*
 * Calls a function. Arguments and the result are as registers hold them; those beyond the eighth
 * go to the frame. A gate may call too. False if the code stopped: core->fault says why.
 */
bool verun_call(struct verun_thread *thread, uint64_t function, const uint64_t *args, size_t nargs,
                uint64_t *result);

/* Ends the process, as code on CORE was stopped by an exception and no caller could be told. */
void verun_stop(const struct ve_core *core) __attribute__((noreturn));

/* Has STOP do so. Unless it is set, there is a line on stderr. */
void verun_set_stop(void (*stop)(const struct ve_core *core));

/* Reserves thread-local memory in all threads: its distance from the thread pointer. */
bool verun_reserve(size_t size, size_t align, uint64_t *offset);

/* Has the variables of a library begin with their content, in each thread before its next call.
 * False without memory. */
bool verun_add_variables(const struct velink_tls *tls);
void verun_remove_variables(const struct velink_tls *tls);

/* Begins them in this thread, as verun_call() does too. */
void verun_start_variables(struct verun_thread *thread);

/* The distance from the thread pointer of a variable that the compilers' run time has; 0 for none.
 */
uint64_t verun_thread_variable(const char *name);

#endif
