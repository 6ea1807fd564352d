/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veosoft.h: what the soft libveo offers beyond the vendor's API.
 *
 * Callers look these functions up at run time (dlsym) and do without them if they are absent, as in
 * the vendor's library. A program tells the libraries apart by the presence of veosoft_version().
 *
 * Threads. Any thread may call any function. Only those with a timeout block, those that copy, and
 * veosoft_death_report(), for up to a second after a crash. Texts are in static storage, belong to
 * the process handle, or to the calling thread, as each function says; callers free none.
 *
 * Errors are those of ve_offload.h.
 */
#ifndef VEOSOFT_H
#define VEOSOFT_H

#include "ve_offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "offchip X.Y.Z"; static storage. */
const char *veosoft_version(void);

/*
 * Says what the callee's parameters are, so that x86 registers can be filled as its C type wants.
 * ARG_KINDS: one letter per argument, 'f' float, 'd' double, anything else of RET_KIND's letters
 * an integer or pointer. RET_KIND: b B h H i I l L (signed and unsigned 8 to 64 bits), p pointer,
 * f float, d double, v void. Stays with ARGS until it is freed or set again; NULL removes it.
 * 0, or -1 with EINVAL.
 */
int veosoft_args_set_signature(struct veo_args *args, const char *arg_kinds, char ret_kind);

/*
 * Debug information of the function at ADDRESS, which veo_get_sym() gave: lines that begin with
 * a letter as above; after "p" the letter of what the pointer refers to may follow, if that is a
 * number. The first line is the result's; then comes one for each parameter, with a blank and its
 * name, which may be empty; then "..." where more arguments may follow. A line that begins
 * with "!" stands alone and says why the function cannot be called: a structure by value, say.
 * Returns the length, 0 where nothing is known; copies the text only if it fits into SIZE bytes.
 */
size_t veosoft_signature(struct veo_proc_handle *proc, uint64_t address, char *text, size_t size);

/* Values of an argument, as registers hold them (a float is in the upper half): one for each call,
 * or with step 0 one for all. */
struct veosoft_column {
    const uint64_t *values;
    size_t step;
};

/* Calls of a function, one after the other. */
struct veosoft_calls {
    uint64_t address;
    size_t count;
    size_t ncolumns; /* arguments, at most 256 */
    const struct veosoft_column *columns;
    uint64_t *results; /* one for each call, as veo_call_wait_result() gives it */
    uint64_t *ended;   /* how many calls have ended, which are the first */
};

/*
 * Queues CALLS as one request: its result, once it is done, is how many calls have ended. TYPES
 * says what arguments and result are, as the list of one call does; its values are not used, and it
 * may be NULL. What CALLS refers to is copied, but results and *ended are written when
 * the request is done (waited for, peeked at, or another is submitted), and may be used until then.
 * If a call ends the process, the calls before it have results: *ended is its index.
 * VEO_REQUEST_ID_INVALID with EINVAL or ENOMEM.
 */
uint64_t veosoft_call_many(struct veo_thr_ctxt *ctx, const struct veosoft_calls *calls,
                           const struct veo_args *types);

/*
 * veo_call_wait_result() with a limit in nanoseconds; VEO_COMMAND_UNFINISHED when it is reached,
 * and the request stays as it is. Negative: no limit.
 */
int veosoft_call_wait_timed(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp,
                            int64_t timeout_ns);
/*
 * Takes back a call that is queued in CTX and has not begun. 1 if so: it is not executed, stack
 * arguments are not written back, and REQID is unknown from now on, as after its result was
 * fetched. 0 if it may have begun, has ended, or is no call; then it stays as it is. -1 if CTX
 * cannot be used. Calls of veosoft_call_many() that have begun end with the one that runs.
 */
int veosoft_call_cancel(struct veo_thr_ctxt *ctx, uint64_t reqid);
/* veo_context_sync() with such a limit: 0 when the queue is empty, 1 at the limit, -1 if dead. */
int veosoft_context_drain(struct veo_thr_ctxt *ctx, int64_t timeout_ns);
/*
 * How long synchronous functions that the calling thread calls from now on wait for what is queued
 * in the main context, in nanoseconds: veo_free_mem(), veo_free_hmem(), veo_read_mem(),
 * veo_write_mem(), veo_hmemcpy(), veo_load_library() and veo_unload_library(), and veo_get_sym()
 * while a library is loaded. At the limit they have done nothing and fail with ETIMEDOUT. Code of a
 * library that runs while it is loaded or unloaded has that limit too: EINPROGRESS, and the same
 * call made again waits for it. Negative, as at first: no limit; then a line on stderr
 * says after 30 seconds what is waited for, unless veosoft_set_quiet() was called. Returns the
 * limit before.
 */
int64_t veosoft_set_wait_limit(int64_t timeout_ns);
/*
 * Says what the oldest request of CTX is that is not done, such as "request 7, a call of sum(),
 * submitted 4.2 s ago; 3 more queued behind it". Returns the length, 0 if there is none; the text
 * is cut to SIZE bytes.
 */
size_t veosoft_waits_for(struct veo_thr_ctxt *ctx, char *text, size_t size);
/* veo_write_mem() that does not wait for the main context's queue: for memory that no request
 * there uses. 0, or -1. */
int veosoft_write_at_once(struct veo_proc_handle *proc, uint64_t dst, const void *src, size_t size);
/* The main context, whether opened or not (veo_get_context() gives only opened ones). */
struct veo_thr_ctxt *veosoft_main_context(struct veo_proc_handle *proc);

/* Text of the last failure in this thread, "" if there was none; valid until its next call. */
const char *veosoft_error(void);
/* How the process died, with a traceback, "" while it lives. Valid until it is destroyed. */
const char *veosoft_death_report(struct veo_proc_handle *proc);
/* With 1, errors are kept for veosoft_error() only and not printed on stderr. Returns the old
 * value; it applies to the whole host process. */
int veosoft_set_quiet(int quiet);

/*
 * Where processes that this thread creates from now on print: OUT and ERR become their standard
 * output and error; -1 leaves the host's. The caller keeps the descriptors, and may close them once
 * a process was created. 0, or -1 with EINVAL if one is below 6, as workers have those.
 */
int veosoft_set_output(int out, int err);

/* Process id of the worker, -1 if the handle is not alive. */
pid_t veosoft_worker_pid(struct veo_proc_handle *proc);
/* Kills the worker at once, whatever it executes; waits end as after a crash. The process is still
 * to be destroyed. 0, or -1 with EINVAL. */
int veosoft_proc_kill(struct veo_proc_handle *proc);
/* 1 if veo_read_mem(), veo_write_mem() and veo_hmemcpy() wait for what is queued in the main
 * context, as they do unless VEO_SOFT_TRANSFERS was "unordered" when PROC was created. */
int veosoft_transfers_are_ordered(struct veo_proc_handle *proc);
/* Number of simulated nodes (VEO_SOFT_NODES, 1 unless set); -1 (EINVAL) if a variable of the
 * library has a value that is not allowed, as which veo_proc_create() fails too. */
int veosoft_node_count(void);
/* Bytes in use in the VE heap of PROC. */
size_t veosoft_heap_used(struct veo_proc_handle *proc);

#ifdef __cplusplus
}
#endif

/* X(name): all functions above, for tables of them. */
#define VEOSOFT_SYMBOLS(X) \
    X(veosoft_version) \
    X(veosoft_args_set_signature) \
    X(veosoft_signature) \
    X(veosoft_call_many) \
    X(veosoft_call_wait_timed) \
    X(veosoft_call_cancel) \
    X(veosoft_context_drain) \
    X(veosoft_set_wait_limit) \
    X(veosoft_waits_for) \
    X(veosoft_write_at_once) \
    X(veosoft_main_context) \
    X(veosoft_error) \
    X(veosoft_death_report) \
    X(veosoft_set_quiet) \
    X(veosoft_set_output) \
    X(veosoft_worker_pid) \
    X(veosoft_proc_kill) \
    X(veosoft_transfers_are_ordered) \
    X(veosoft_node_count) \
    X(veosoft_heap_used)

#endif
