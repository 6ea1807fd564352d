/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context_handle.h: handles of contexts.
 *
 * A handle is never freed: it stays in its process' list and is used again for a later context, so
 * a stale pointer is noticed. Every function of the API that uses a context does so between
 * veolib_ctx_enter() and veolib_ctx_leave().
 */
#ifndef VEOLIB_CONTEXT_HANDLE_H
#define VEOLIB_CONTEXT_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/list.h"
#include "common/spin.h"
#include "ve_offload.h"
#include "veo/lib/results.h"
#include "veo/wire.h"

struct agent;
struct chunk;
struct veo_proc_handle;

struct veo_thr_ctxt {
    uint32_t kind; /* enum handle_kind */
    struct veo_proc_handle *proc;
    struct veo_thr_ctxt *next; /* in the process' list, by age */
    struct wire_context *wire; /* NULL: free for the next context */
    bool opened;               /* counted by veo_num_contexts() */
    bool main;
    _Atomic bool gone;      /* closed: the handle waits for its next use */
    pthread_mutex_t submit; /* recursive: veo_req_block_begin(); for the next: */
    uint64_t reserved;      /* requests below this id have room for their results */
    pthread_mutex_t queue;  /* all below, but for the tail and the agent: submit lock */
    struct chunk *head;     /* the oldest request not harvested is here, at head_index */
    struct chunk *tail;
    struct chunk *retired; /* harvested, but the worker or a waiter may still read a slot */
    unsigned head_index;
    unsigned tail_index;
    unsigned waiters; /* of all chunks */
    _Atomic uint64_t next_id;
    _Atomic uint64_t harvested; /* requests below this id are out of the queue */
    struct result_table results;
    struct list sleepers; /* of struct sleeper (queue_wait.c) */
    struct spin_backoff backoff;
    struct agent *agent; /* NULL until it is needed */
};

/* True if CTX is a context, closed or not. Sets no error. */
bool veolib_ctx_is_handle(const struct veo_thr_ctxt *ctx);

/* Begins a call on a context and its process. False (error set) if it cannot be used. */
bool veolib_ctx_enter(struct veo_thr_ctxt *ctx);

/* Ends the call. */
void veolib_ctx_leave(struct veo_thr_ctxt *ctx);

#endif
