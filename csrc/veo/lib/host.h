/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the soft libveo share: its structures and internal functions.
 *
 * Locks, in the order in which they may be taken: the root's, a context's submit lock, a
 * context's queue lock, a process' memory lock. None is held while a kernel, a VH function or a
 * hook runs, or over a wait.
 */
#ifndef VEO_HOST_H
#define VEO_HOST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/clock.h"
#include "common/range_alloc.h"
#include "common/spin.h"
#include "ve_offload.h"
#include "veo/wire.h"
#include "veosoft.h"

#define VEO_STACK_ARGS_MAX ((size_t)63 << 20)
#define VEO_DEFAULT_STACK ((size_t)128 << 20)
#define VEO_SMALLEST_STACK ((size_t)4 << 20)

/* The vendor's functions are exported, at the version that libveo.map gives them. */
#define VEO_EXPORT __attribute__((visibility("default")))

/*
 * The first word of what users hold pointers to. Such memory is never given back to malloc(), so
 * that a stale pointer or one to something else is noticed.
 */
enum handle_kind {
    HANDLE_PROC = 0x70726f63,
    HANDLE_CONTEXT = 0x63747874,
    HANDLE_ARGS = 0x61726773,
    HANDLE_ARGS_FREED = 0x66726565,
};

/* --- errors (error.c) ------------------------------------------------------------------- */

/* Keeps the text for veosoft_error(), prints it unless quiet, sets errno. */
void veolib_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One line on stderr, whether quiet or not. */
void veolib_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same where VEO_LOG_DEBUG is set. */
void veolib_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool veolib_is_quiet(void);

/* --- argument lists (args.c) ------------------------------------------------------------ */

/* Of veosoft_args_set_signature(), but for 'v'. */
#define SIGNATURE_LETTERS "bBhHiIlLpfd"

struct stack_arg {
    char *buffer;
    size_t size;
    enum veo_args_intent intent;
    int argnum;
};

struct veo_args {
    _Atomic uint32_t kind; /* enum handle_kind */
    struct veo_args *next; /* while it is free */
    int nargs;             /* highest number set + 1 */
    int nstack;
    int stack_capacity;
    struct stack_arg *stack;
    char ret; /* 0: no signature */
    uint64_t signature[WIRE_KIND_WORDS];
    uint64_t kinds[WIRE_KIND_WORDS];
    uint64_t values[VEO_MAX_NUM_ARGS];
};

/* Sets the error if ARGS is no argument list. */
bool veolib_args_check(const struct veo_args *args);
/* In a forked child, whose parent may have been in the middle of something. */
void veolib_args_after_fork(void);

/* --- results that nobody has fetched yet (results.c) ------------------------------------- */

struct result_page;

struct result_table {
    struct result_page **buckets;
    size_t nbuckets; /* a power of two, or 0 */
    size_t npages;
    struct result_page *spare; /* one empty page, so that a steady flow allocates nothing */
};

bool veolib_results_put(struct result_table *table, uint64_t id, int outcome, uint64_t result);
bool veolib_results_take(struct result_table *table, uint64_t id, int *outcome, uint64_t *result);
void veolib_results_clear(struct result_table *table);

/* --- contexts and their queues (queue.c, queue_wait.c, context.c) ------------------------- */

/* A piece of host memory that gets its bytes from the wire when the request is harvested. */
struct copy_out {
    void *to;
    const void *from;
    size_t size;
};

/* What a request needs besides its slot; private to the host, freed when it is harvested. */
struct request_extra {
    uint64_t block;           /* wire memory to give back, 0 for none */
    uint64_t free_on_success; /* VE heap memory that this request frees */
    int ncopies;
    struct copy_out copies[];
};

struct agent_job;

/* What the host knows of a request in a slot; the worker cannot change it. */
struct request_record {
    struct request_extra *extra;
    struct agent_job *job; /* what the host executes: then the job says when it is done */
};

struct chunk {
    struct wire_chunk *wire;
    struct chunk *next;
    _Atomic uint64_t in_use; /* until the worker has left the requests below this id */
    unsigned waiters;        /* threads that look at its slots; with the queue lock */
    struct request_record records[WIRE_CHUNK_SLOTS];
};

struct sleeper {
    uint64_t id;
    struct sleeper *next;
};

struct agent;

struct veo_thr_ctxt {
    uint32_t kind; /* enum handle_kind */
    struct veo_proc_handle *proc;
    struct veo_thr_ctxt *next; /* in the process' list, by age */
    struct wire_context *wire;
    bool opened; /* counted by veo_num_contexts() */
    bool main;
    _Atomic bool gone;      /* closed: the structure waits for its next use */
    _Atomic bool ending;    /* being closed: results that there is no memory for are dropped */
    pthread_mutex_t submit; /* recursive: veo_req_block_begin() */
    pthread_mutex_t queue;  /* all below */
    struct chunk *head;     /* the oldest request not harvested is here, at head_index */
    struct chunk *tail;
    struct chunk *retired; /* harvested, but the worker or a waiter may still look at a slot */
    unsigned head_index;
    unsigned tail_index;
    unsigned waiters; /* of all chunks */
    _Atomic uint64_t next_id;
    _Atomic uint64_t harvested; /* requests below this id are out of the queue */
    struct result_table results;
    struct sleeper *sleepers;
    struct spin_patience patience;
    struct agent *agent;
};

/* A request being written: between veolib_queue_begin() and veolib_queue_publish() the submit lock
 * is held. */
struct draft {
    struct wire_slot *slot;
    uint64_t id;
    struct agent_job *job; /* becomes the queue's */
};

/* Takes the submit lock and finds a slot. False (errno set) if the process is dead or memory is
 * out; then the lock is not held. */
bool veolib_queue_begin(struct veo_thr_ctxt *ctx, struct draft *draft);
/* EXTRA becomes the queue's. Returns the id. */
uint64_t veolib_queue_publish(struct veo_thr_ctxt *ctx, struct draft *draft,
                              struct request_extra *extra);
void veolib_queue_abandon(struct veo_thr_ctxt *ctx);
/* A request that the host has executed already, for which nothing is queued: it has no slot. Where
 * something is queued VEO_REQUEST_ID_INVALID, without an error. */
uint64_t veolib_queue_done(struct veo_thr_ctxt *ctx, int outcome, uint64_t result);
/* Has veo_prev_req_result() show RESULT in the next kernel, if nothing is queued before it. */
void veolib_queue_remember(struct veo_thr_ctxt *ctx, uint64_t result);
/* A request without arguments. */
uint64_t veolib_queue_simple(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t target,
                             struct request_extra *extra);
/* State of a request by now; delivers its result where there is one. */
int veolib_queue_peek(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result);
/* The same, waiting until DEADLINE. */
int veolib_queue_wait(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result, int64_t deadline);
/* Waits until everything submitted before is harvested. 0; 1 at the deadline; -1 if dead. */
int veolib_queue_drain(struct veo_thr_ctxt *ctx, int64_t deadline);
/* The same of the requests below END, which have been submitted. */
int veolib_queue_drain_until(struct veo_thr_ctxt *ctx, uint64_t end, int64_t deadline);
bool veolib_queue_is_empty(struct veo_thr_ctxt *ctx);
/* The same after taking out what is finished. */
bool veolib_queue_is_idle(struct veo_thr_ctxt *ctx);
/* Waits until the worker has come to request ID in SLOT, which the host is to execute. False if
 * it never will, or if somebody else has executed the request. */
bool veolib_queue_wait_turn(struct veo_thr_ctxt *ctx, const struct wire_slot *slot, uint64_t id);
/* For who executed JOB: its outcome. The queue may free it at once. */
void veolib_queue_host_done(struct veo_thr_ctxt *ctx, struct agent_job *job, int outcome,
                            uint64_t result);
/* Takes what is finished out of the queue (everything, if the process is dead); the second with
 * the queue lock. */
void veolib_queue_harvest(struct veo_thr_ctxt *ctx);
void veolib_queue_harvest_locked(struct veo_thr_ctxt *ctx);
/* First chunk; frees all. */
bool veolib_queue_init(struct veo_thr_ctxt *ctx);
/* Waits until all threads have what they wait for in a queue that is empty. */
void veolib_queue_wait_for_waiters(struct veo_thr_ctxt *ctx);
void veolib_queue_free(struct veo_thr_ctxt *ctx);

struct request_extra *veolib_extra_new(int ncopies);

/* For queue_wait.c, with the queue lock: the state of a request, its result delivered, ... */
int veolib_queue_state(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result);
/* ... and the chunk of one that is in the queue, with its place there. */
struct chunk *veolib_queue_chunk(struct veo_thr_ctxt *ctx, uint64_t id, unsigned *index);

struct veo_thr_ctxt *veolib_context_new(struct veo_proc_handle *proc, bool main);
void veolib_context_delete(struct veo_thr_ctxt *ctx);
/* Runs the queue empty and ends the thread. False at the deadline, or if it could not be told. */
bool veolib_context_end(struct veo_thr_ctxt *ctx, int64_t deadline);

/* --- the agent: what a context has executed in the host (agent.c) ------------------------- */

enum agent_job_kind { AGENT_FUNCTION, AGENT_READ, AGENT_WRITE, AGENT_ALLOC };

struct agent_job {
    struct agent_job *next;
    enum agent_job_kind kind;
    bool running; /* taken out of the agent's list; under its lock */
    _Atomic bool done;
    int outcome; /* these two are valid when it is done */
    uint64_t result;
    uint64_t id;
    struct wire_slot *slot;
    uint64_t (*function)(void *);
    void *argument; /* or the host side of a transfer */
    void *owned;    /* freed with the job, executed or not */
    uint64_t address;
    size_t size;
};

/* Queues JOB (copied) in the context. The request id, or VEO_REQUEST_ID_INVALID. */
uint64_t veolib_agent_submit(struct veo_thr_ctxt *ctx, const struct agent_job *job);
/* Takes a job back, if nobody is executing it. */
bool veolib_agent_cancel(struct veo_thr_ctxt *ctx, struct agent_job *job);
void veolib_agent_job_free(struct agent_job *job);
void veolib_agent_stop(struct veo_thr_ctxt *ctx);

/* --- processes (process.c, start.c) ------------------------------------------------------ */

struct symbol;

struct veo_proc_handle {
    uint32_t kind;                /* enum handle_kind */
    struct veo_proc_handle *next; /* in the root's list; never freed, used again */
    bool in_use;                  /* from creation to the end of destruction; root's lock */
    _Atomic bool alive;           /* created and not destroyed */
    _Atomic bool closing;
    _Atomic bool dead;    /* the worker is gone, or has crashed and is about to be */
    _Atomic bool damaged; /* a kernel wrote over the queues, and the worker was ended for it */
    _Atomic bool reaped;
    _Atomic int64_t checked_at;
    _Atomic uint32_t users; /* calls in progress */
    uint32_t fork_generation;
    int identifier;
    int node;
    bool unordered; /* synchronous transfers do not wait for the main context's queue */
    pid_t pid;      /* of the worker */
    pid_t child;    /* the same, or the debugger that runs it */
    int pidfd;      /* of the child; -1 where the kernel has none */
    int lifeline;   /* write end: closing it ends the worker */
    unsigned seat;
    struct wire_header *header; /* start of the shared memory */
    size_t mapped;
    uint64_t wire;
    uint64_t wire_size;
    uint64_t heap;
    uint64_t heap_size;
    pthread_mutex_t memory; /* the two allocators */
    struct range_alloc *wire_ranges;
    struct range_alloc *heap_ranges;
    int memory_fd;
    pthread_mutex_t contexts_lock;
    struct veo_thr_ctxt *contexts; /* all, the main one first */
    struct veo_thr_ctxt *main;
    struct veo_thr_ctxt *service; /* of a thread that runs no kernels, so that it always answers */
    pthread_mutex_t symbols_lock;
    struct symbol **symbols;
    size_t nsymbols;
    char death[WIRE_DEATH_SIZE + 256];
};

/* The one place of global state. */
struct veolib_root {
    pthread_mutex_t lock;
    struct veo_proc_handle *procs; /* all ever created */
    struct spin_board *board;
    struct spin_side side;
    int board_fd;
    pid_t owner;
    _Atomic uint32_t fork_generation;
};

extern struct veolib_root veolib_root;

/* Every call on a process is between these: they check the handle and keep its memory mapped. */
bool veolib_proc_enter(struct veo_proc_handle *proc);
/* Whether it is a process that is neither destroyed nor being destroyed. */
bool veolib_proc_is_alive(const struct veo_proc_handle *proc);
void veolib_proc_leave(struct veo_proc_handle *proc);
/* The same for a context. */
bool veolib_ctx_enter(struct veo_thr_ctxt *ctx);
void veolib_ctx_leave(struct veo_thr_ctxt *ctx);
/* Looks whether the worker still lives; notes its death. */
bool veolib_proc_is_dead(struct veo_proc_handle *proc);
void veolib_proc_check(struct veo_proc_handle *proc);
/* The same, but cheap enough for a loop of peeks. */
void veolib_proc_check_now_and_then(struct veo_proc_handle *proc);
/* A descriptor (16 or above) of an anonymous file whose size is fixed; -1 with the error set. */
int veolib_memory_file_new(const char *name, size_t size);
/* Maps the memory file at an address that is not tried twice in a row; false with the error
 * set. Afterwards the header is filled but for main. */
bool veolib_memory_map(struct veo_proc_handle *proc);
void veolib_memory_unmap(struct veo_proc_handle *proc);
/* Spawns PROGRAM, NULL for our own worker. The main context must be there. */
enum start_result { START_OK, START_FAILED, START_ADDRESS_TAKEN };
enum start_result veolib_worker_start(struct veo_proc_handle *proc, const char *program);
/* Notes why it is to die, if its end cannot be waited for: a busy machine may take long over it. */
void veolib_worker_describe(struct veo_proc_handle *proc);
/* Kills it, whatever it does; whoever looks next sees its death. */
void veolib_worker_kill(struct veo_proc_handle *proc);
/* What a queue holds cannot have been written by this library: says so, and ends the worker. */
void veolib_worker_damaged(struct veo_proc_handle *proc);
/* Waits until DEADLINE for it to exit, then kills it; reaps it in any case. */
void veolib_worker_end(struct veo_proc_handle *proc, int64_t deadline);

/* The living process with this identifier, NULL if there is none. */
struct veo_proc_handle *veolib_proc_by_identifier(int identifier);

uint64_t veolib_wire_get(struct veo_proc_handle *proc, size_t size);
void veolib_wire_put(struct veo_proc_handle *proc, uint64_t block);

/* Node number by the rules of VE_NODE_NUMBER and _VENODELIST, -1 if there is none such. */
int veolib_node_resolve(int venode);
int veolib_node_count(void);
size_t veolib_env_size(const char *name, size_t otherwise);

/* --- memory (memory.c, transfer.c) -------------------------------------------------------- */

bool veolib_heap_contains(const struct veo_proc_handle *proc, uint64_t addr, size_t size);
uint64_t veolib_heap_get(struct veo_proc_handle *proc, size_t size);
/* False if no block of the heap starts there. */
bool veolib_heap_put(struct veo_proc_handle *proc, uint64_t addr);
bool veolib_heap_owns(struct veo_proc_handle *proc, uint64_t addr);
/* Copies at once, whatever is queued. 0 or an errno. */
int veolib_transfer_now(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                        bool write);

/* Waits for the main context's queue; false (error set) if the process is dead. */
bool veolib_proc_sync_main(struct veo_proc_handle *proc);
/* The same before a synchronous transfer, unless these are unordered. */
bool veolib_proc_sync_transfer(struct veo_proc_handle *proc);
/* veo_get_sym() between veolib_proc_enter() and veolib_proc_leave(). */
uint64_t veolib_symbol_address(struct veo_proc_handle *proc, uint64_t handle, const char *name);
void veolib_symbols_forget(struct veo_proc_handle *proc, uint64_t handle);
void veolib_symbols_clear(struct veo_proc_handle *proc);

#endif
