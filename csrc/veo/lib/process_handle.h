/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_handle.h: handles of VE processes, and the table of all.
 *
 * A handle is never freed: it stays in the table and is used again for a later process, so a stale
 * pointer is noticed. Every function of the API that uses a process does so between
 * veolib_proc_enter() and veolib_proc_leave(), which keep its memory mapped.
 *
 * The table is the one place of global state. In a forked child it is empty, and the handles of the
 * parent are refused.
 *
 * Locks of the library, in the order in which they may be taken: the table's, a process' list of
 * contexts, a context's submit lock, a context's queue lock, an agent's lock, and then, of which
 * only one is held at a time, a worker's, a memory's, the symbols'. No lock is held while a kernel,
 * a VH function or a hook runs, or while a thread waits for a request; the exception is the submit
 * lock, which veo_req_block_begin() gives to the user.
 */
#ifndef VEOLIB_PROCESS_HANDLE_H
#define VEOLIB_PROCESS_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spin.h"
#include "ve_offload.h"
#include "veo/lib/memory.h"
#include "veo/lib/worker.h"

struct symbol;

/* The loading or unloading of a library that its caller stopped waiting for. Who makes the same
 * call again waits for it. */
struct late_request {
    uint64_t id;
    uint64_t block;  /* wire memory with the texts, 0 for none */
    uint64_t handle; /* of what is unloaded */
    bool there;
    char name[VEO_SYMNAME_LEN_MAX + 1]; /* of what is loaded */
};

struct veo_proc_handle {
    uint32_t kind;                /* enum handle_kind */
    struct veo_proc_handle *next; /* in the table */
    bool in_use;                  /* from creation to the end of destruction; table's lock */
    _Atomic bool alive;           /* created and not destroyed */
    _Atomic bool closing;         /* destroyed: waits end */
    _Atomic uint32_t users;       /* calls in progress */
    uint32_t fork_generation;
    int identifier;
    int node;
    bool unordered;     /* synchronous transfers do not wait for the main context's queue */
    unsigned spin_slot; /* the worker's on the spin board */
    struct veolib_worker worker;
    struct veolib_memory memory;
    pthread_mutex_t contexts_lock;
    struct veo_thr_ctxt *contexts; /* all, the main one first */
    struct veo_thr_ctxt *main;
    struct veo_thr_ctxt *service; /* its thread runs no kernels, so that it always answers */
    pthread_mutex_t symbols_lock;
    struct symbol **symbols;
    struct late_request late; /* symbols_lock */
    _Atomic uint64_t loading; /* the last request that loads or unloads a library is below it */
};

/*
 * Takes a free handle, or a new one: with an identifier, a spin slot and a worker that is not
 * started. NULL (error set) on failure. To be given back with veolib_proc_release().
 */
struct veo_proc_handle *veolib_proc_take(void);

/* Gives a handle back whose worker has ended. */
void veolib_proc_release(struct veo_proc_handle *proc);

/* True if PROC is a process, destroyed or not, of this process or its parent. Sets no error. */
bool veolib_proc_is_handle(const struct veo_proc_handle *proc);

/* True if it is a process that was not destroyed. Sets no error. */
bool veolib_proc_is_alive(const struct veo_proc_handle *proc);

/* Begins a call on a process. False (error set) if it cannot be used. */
bool veolib_proc_enter(struct veo_proc_handle *proc);

/* Ends the call. */
void veolib_proc_leave(struct veo_proc_handle *proc);

/* Waits until no call on the process is in progress. */
void veolib_proc_wait_for_users(const struct veo_proc_handle *proc);

/* True if the process was created before a fork() that led here. */
bool veolib_proc_is_forked(const struct veo_proc_handle *proc);

/* The living process with this identifier, NULL if there is none. */
struct veo_proc_handle *veolib_proc_by_identifier(int identifier);

/* Calls FUNCTION with every handle ever taken; no lock is held. For the end of the program. */
void veolib_proc_for_each(void (*function)(struct veo_proc_handle *proc, void *argument),
                          void *argument);

/* The file of the spin board, which workers map. Valid while a handle is taken. */
int veolib_spin_board_fd(void);

/* State of the host's threads for spinning. Valid while a handle is taken. */
extern struct spin_side veolib_spin_side;

#endif
