/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h: a context's queue: submitting requests, and harvesting those that have ended.
 *
 * A request occupies a slot in shared memory, which the worker executes in order. What the host
 * must know of it is in private memory, where kernels cannot change it. Requests are *harvested* in
 * order, by whichever thread submits, peeks or waits: stack arguments are copied back, memory is
 * freed, and the result moves into a table until it is fetched.
 *
 * Threads: any thread may call any function, between veolib_ctx_enter() and veolib_ctx_leave() or
 * while the context cannot go away. Those marked "locked" need the queue lock. Only
 * veolib_queue_begin() blocks, while another thread holds the submit lock.
 *
 * Waiting is in queue_wait.h, taking requests back in queue_withdraw.h.
 */
#ifndef VEOLIB_QUEUE_H
#define VEOLIB_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ve_offload.h"
#include "veo/lib/context_handle.h"
#include "veo/wire.h"

/* Host memory that gets its bytes from the wire when the request is harvested. */
struct copy_out {
    void *to;
    const void *from;
    size_t size;
};

/* A batch of calls: where its caller wants the results, and how many calls have ended. */
struct batch_out {
    struct wire_batch *from; /* NULL: it is no batch */
    size_t first;            /* place of the results among its values */
    uint64_t count;
    uint64_t *results;
    uint64_t *ended;
};

/* Memory of a request besides its slot; freed when it is harvested. */
struct request_extra {
    uint64_t block;           /* wire memory to free, 0 for none */
    uint64_t free_on_success; /* VE heap memory that this request frees */
    struct batch_out batch;
    int ncopies;
    struct copy_out copies[];
};

/*
 * A request that the host executes when its turn comes. The worker stops at its slot meanwhile. Who
 * executes it embeds this structure; the queue knows no more of it.
 */
struct host_job {
    const struct host_job_ops *ops;
    struct wire_slot *slot;
    uint64_t id;
    _Atomic bool done;
    int outcome; /* these two are valid when it is done */
    uint64_t result;
};

struct host_job_ops {
    /* Takes a job back. False if it is being executed. Called with the queue lock. */
    bool (*cancel)(struct veo_thr_ctxt *ctx, struct host_job *job);
    void (*free)(struct host_job *job);
};

/* Record of the host for the request in a slot. */
struct request_record {
    struct request_extra *extra;
    struct host_job *job; /* NULL unless the host executes it */
    int64_t submitted;    /* clock_coarse(), or REQUEST_WITHDRAWN */
};

/* Nobody asks for the result. */
#define REQUEST_WITHDRAWN INT64_C(-1)

struct chunk {
    struct wire_chunk *wire;
    struct chunk *next;
    _Atomic uint64_t in_use; /* until the worker has left the requests below this id */
    unsigned waiters;        /* threads that read its slots; queue lock */
    struct request_record records[WIRE_CHUNK_SLOTS];
};

/* A request that is being written, between veolib_queue_begin() and veolib_queue_publish(). */
struct draft {
    struct wire_slot *slot;
    uint64_t id;
    struct host_job *job; /* NULL unless set; becomes the queue's */
};

/* --- life --- */

/* Makes the queue of a context with a new wire context empty. Locked. False without memory. */
bool veolib_queue_init(struct veo_thr_ctxt *ctx);

/* Frees everything. Locked; the worker has left the context or is gone, and no thread waits. */
void veolib_queue_free(struct veo_thr_ctxt *ctx);

/* --- submission --- */

/* Allocates an extra of zeros with room for NCOPIES copies; NULL without memory. Either freed by
 * the caller, or passed to veolib_queue_publish(). */
struct request_extra *veolib_extra_new(int ncopies);

/*
 * Takes the submit lock and finds a slot. False (error set) if the process is dead, the context
 * closed or memory out; then the lock is not held. After success the caller fills the slot and
 * calls veolib_queue_publish() or veolib_queue_abandon().
 */
bool veolib_queue_begin(struct veo_thr_ctxt *ctx, struct draft *draft);

/* Submits the draft and releases the lock. EXTRA (may be NULL) becomes the queue's. Returns the
 * request's id. */
uint64_t veolib_queue_publish(struct veo_thr_ctxt *ctx, struct draft *draft,
                              struct request_extra *extra);

/* Gives up the draft and releases the lock. */
void veolib_queue_abandon(struct veo_thr_ctxt *ctx);

/* Submits a request without arguments. EXTRA is freed on failure. The id, or
 * VEO_REQUEST_ID_INVALID (error set). */
uint64_t veolib_queue_simple(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t target,
                             struct request_extra *extra);

/*
 * Adds a request that the host has executed already. It has an id and a result but no slot, so it
 * is possible only while nothing is queued; else VEO_REQUEST_ID_INVALID, without an error.
 */
uint64_t veolib_queue_done(struct veo_thr_ctxt *ctx, int outcome, uint64_t result);

/* Has veo_prev_req_result() return RESULT in the next kernel, if nothing is queued before it. */
void veolib_queue_remember(struct veo_thr_ctxt *ctx, uint64_t result);

/* Reports the end of a request that the host has executed. The queue may free JOB at once. */
void veolib_queue_host_done(struct veo_thr_ctxt *ctx, struct host_job *job, int outcome,
                            uint64_t result);

/* --- harvest --- */

/* Takes what has ended out of the queue; if the process is dead, everything. */
void veolib_queue_harvest(struct veo_thr_ctxt *ctx);
void veolib_queue_harvest_locked(struct veo_thr_ctxt *ctx);

/* The state of request ID (enum veo_command_state); fetches its result if it has ended. */
int veolib_queue_peek(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result);
int veolib_queue_state_locked(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result);

/* The chunk of a request that is in the queue, and the index of its slot there. Locked. */
struct chunk *veolib_queue_chunk_locked(struct veo_thr_ctxt *ctx, uint64_t id, unsigned *index);

/* True if everything submitted was harvested. */
bool veolib_queue_is_empty(struct veo_thr_ctxt *ctx);

/* Same, after harvesting what has ended. */
bool veolib_queue_is_idle(struct veo_thr_ctxt *ctx);

#endif
