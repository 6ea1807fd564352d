/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.h: the contexts that this worker serves, and what all of its threads share.
 *
 * Internal names start with veow_: the symbols of a worker are visible to the kernels that it
 * loads, and must not clash with theirs.
 *
 * Threads: each context has one thread, which calls veow_context_enter() and veow_context_leave().
 * The rest may be called by any thread; veow_contexts() and veow_finish() in signal handlers too.
 */
#ifndef VEOW_CONTEXT_H
#define VEOW_CONTEXT_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/spin.h"
#include "veo/wire.h"

/* For functions that do not return and run where AddressSanitizer does not know the stack: on that
 * of signal handlers, and where pthread_exit() has dropped frames. */
#define VEOW_NO_ASAN __attribute__((no_sanitize("address")))

/* A context's thread. */
struct veow_context {
    struct wire_context *wire;
    struct wire_slot *_Atomic slot; /* being executed, or NULL */
    _Atomic uint64_t target;        /* the function that is being called, or 0 */
    uint64_t id;
    struct spin_backoff backoff;
    int64_t moved_at; /* to another core, to be apart from the host */
    bool guarded;     /* a fault jumps to guard */
    sigjmp_buf guard;
    void *signal_stack;
    struct veow_context *next;
};

/* The context of this thread; NULL in threads that kernels start. */
extern _Thread_local struct veow_context *veow_current;

/* The memory that is shared with the host. */
extern struct wire_header *veow_header;
extern struct spin_side veow_side;

/* Makes CTX this thread's context, and adds it to the list. */
void veow_context_enter(struct veow_context *ctx);

/* Undoes that. */
void veow_context_leave(struct veow_context *ctx);

/* All contexts, newest first. The list is read without a lock. */
struct veow_context *veow_contexts(void);

/* True if a context is calling a function for which BELONGS(function, TO) is true. */
bool veow_is_executing(bool (*belongs)(uint64_t address, const void *to), const void *to);

/* Ends the request that CTX is executing, if there is one: the host sees OUTCOME and RESULT. */
void veow_finish(struct veow_context *ctx, int outcome, uint64_t result);

/* Wakes the host's threads that wait for request ID, after its state was written. */
void veow_tell_host(struct wire_context *wire, uint64_t id);

#endif
