/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the worker share. Internal names start with veow_: the worker's own symbols
 * are visible to the kernels that it loads, and theirs must not clash with them. */
#ifndef VEO_WORKER_H
#define VEO_WORKER_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spin.h"
#include "ve_offload.h"
#include "veo/wire.h"

/* For functions that do not return and run where AddressSanitizer does not know the stack: on that
 * of signal handlers, and where pthread_exit() has dropped frames. */
#define VEOW_NO_ASAN __attribute__((no_sanitize("address")))

/* A context's thread; the current one is veow_current. */
struct veow_context {
    struct wire_context *wire;
    struct wire_slot *_Atomic slot; /* being executed, or NULL */
    _Atomic uint64_t target;        /* the function that is being called, or 0 */
    uint64_t id;
    struct spin_patience patience;
    int64_t moved_at; /* to another core, to be apart from the host */
    bool guarded;     /* a fault jumps to guard */
    sigjmp_buf guard;
    void *signal_stack;
    struct veow_context *next;
};

extern _Thread_local struct veow_context *veow_current;
extern struct wire_header *veow_header;
extern struct spin_side veow_side;

/* --- loop.c --- */
/* Executes the requests of a context until it is told to end. */
void veow_run_context(struct wire_context *wire);
/* Starts a thread that does so. 0 or an errno. */
int veow_start_context(struct wire_context *wire, size_t stack_size);
/* Ends the current request of CTX. */
void veow_finish(struct veow_context *ctx, int outcome, uint64_t result);
/* All contexts, newest first; read without a lock by the crash handler. */
struct veow_context *veow_contexts(void);
/* Whether the function that some context is calling BELONGS. */
bool veow_is_executing(bool (*belongs)(uint64_t address, const void *to), const void *to);

/* --- release.c --- */
/* Gives memory back that a kernel has from malloc(). False, and nothing done, if it is none. */
bool veow_free(struct veow_context *ctx, uint64_t address);

/* --- call.c --- */
/* Calls the function of a slot. The outcome; *RESULT is in the VE's representation. */
int veow_call(const struct wire_slot *slot, uint64_t *result);

/* --- classes.c --- */
/* How to pass the arguments of a function, as far as it can be found out. */
struct veow_classes {
    uint64_t address;
    bool known;   /* from debug info: kinds and ret are valid */
    bool refused; /* it cannot be called, see why */
    bool warned;
    char ret;
    uint64_t kinds[WIRE_KIND_WORDS];
    char why[224];
    char *signature; /* as veosoft_signature() gives it, or NULL */
};
/* Never NULL; the entry lives until the library is unloaded. */
struct veow_classes *veow_classes_of(uint64_t address);
void veow_classes_forget(void);
/* Copies the signature of the symbol at ADDRESS, "" if it is not known or no function. */
void veow_classes_signature(uint64_t address, char text[WIRE_SIGNATURE_SIZE]);
/* Says once a function that its arguments are taken for integers. */
void veow_classes_warn(struct veow_classes *classes, bool kinds_given);

/* --- libraries.c (symbols are looked up in the service thread, the rest in the main one) --- */
uint64_t veow_load(struct wire_text *text);
uint64_t veow_unload(uint64_t handle);
uint64_t veow_symbol(uint64_t handle, struct wire_text *text);

/* --- crash.c --- */
void veow_crash_setup(void);
/* An alternate signal stack for this thread, and its end. */
void *veow_signal_stack_new(void);
void veow_signal_stack_free(void *stack);
/* Ends the process with a report that the host shows; for what is not a signal. */
void veow_die(const char *reason) __attribute__((noreturn));
/* "function (library)" of a code address. */
void veow_describe(uint64_t address, char *text, size_t size);

/* --- invoke.S --- */
/* Calls FN with the given registers and stack words. out[0] is rax, out[1] xmm0. */
void veow_invoke(uint64_t fn, const uint64_t ints[6], const uint64_t fps[8], const uint64_t *stack,
                 size_t nstack, uint64_t out[2]);

#endif
