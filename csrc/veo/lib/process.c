/* SPDX-License-Identifier: BSD-3-Clause */
/* VE processes: creation, destruction, and what is asked about them. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "ve_offload.h"
#include "veo/lib/context.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/node.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/lib/symbol_table.h"
#include "veo/lib/worker_program.h"
#include "veo/lib/worker_start.h"
#include "veosoft.h"

#define DESTROY_LIMIT (20 * CLOCK_SECOND)
/* A program that ends does not wait that long for a kernel that does not. */
#define EXIT_LIMIT (CLOCK_SECOND * 3 / 2)
/* The report of a crash takes no longer. */
#define CRASH_LIMIT (2 * CLOCK_SECOND)
#define ADDRESS_TRIES 8

/* --- creation --- */

/* The status of this process, once checks of VE code have found something; 0: its own. */
static _Atomic uint32_t check_status;
static _Atomic pid_t checked_pid;

static void note_checks(const struct wire_header *header)
{
    uint32_t status = header != NULL ? atomic_load(&header->check_status) & UINT8_MAX : 0;
    if (status == 0)
        return;
    atomic_store(&checked_pid, getpid());
    atomic_store(&check_status, status);
}

/* Frees what remains after the worker. */
static void tear_down(struct veo_proc_handle *proc)
{
    for (struct veo_thr_ctxt *c = proc->contexts; c != NULL; c = c->next)
        if (!atomic_load(&c->gone))
            veolib_context_delete(c);
    proc->main = proc->service = NULL;

    veolib_symbols_forget(proc, true, 0);
    note_checks(proc->memory.header);
    veolib_memory_unmap(&proc->memory);
}

/* Fills the header, which tells the worker what it serves. False (error set) without memory. */
static bool open_first_contexts(struct veo_proc_handle *proc)
{
    proc->main = veolib_context_new(proc, true);
    proc->service = proc->main != NULL ? veolib_context_new(proc, false) : NULL;
    if (proc->service == NULL)
        return false;

    struct wire_header *header = proc->memory.header;
    header->spin_slot = proc->spin_slot;
    header->quiet = veolib_is_quiet();
    header->main = proc->main->wire;
    header->service = proc->service->wire;
    return true;
}

/* Maps memory and starts the worker on it. Nothing is left if that fails. */
static enum start_result try_start(struct veo_proc_handle *proc, const char *program)
{
    if (!veolib_memory_map(&proc->memory))
        return START_FAILED;

    enum start_result result = START_FAILED;
    if (open_first_contexts(proc))
        result = veolib_worker_start(&proc->worker, &proc->memory, veolib_spin_board_fd(), program);
    if (result != START_OK)
        tear_down(proc);
    return result;
}

static struct veo_proc_handle *create(int venode, const char *program)
{
    int node = veolib_env_check() ? veolib_node_resolve(venode) : -1;
    struct veo_proc_handle *proc = node >= 0 ? veolib_proc_take() : NULL;
    if (proc == NULL)
        return NULL;
    proc->node = node;
    /* For programs that write to a kernel while it runs. */
    proc->unordered = veolib_env_value(VEOLIB_ID_VEO_SOFT_TRANSFERS) != 0;

    enum start_result result = START_ADDRESS_TAKEN;
    for (int i = 0; i < ADDRESS_TRIES && result == START_ADDRESS_TAKEN; i++)
        result = try_start(proc, program);
    if (result == START_ADDRESS_TAKEN)
        veolib_fail(EADDRNOTAVAIL, "no address range is free both in this process and the worker");

    if (result != START_OK) {
        int error = errno;
        veolib_proc_release(proc);
        errno = error;
        return NULL;
    }
    atomic_store(&proc->alive, true);
    return proc;
}

VEO_EXPORT struct veo_proc_handle *veo_proc_create(int venode)
{
    return create(venode, veolib_worker_chosen());
}

VEO_EXPORT struct veo_proc_handle *veo_proc_create_static(int venode, const char *veorun_path)
{
    if (veorun_path == NULL || *veorun_path == 0) {
        veolib_fail(EINVAL, "the path of the worker program must not be NULL or empty");
        return NULL;
    }
    return create(venode, veorun_path);
}

/* --- destruction --- */

/* Ends all contexts but the main one and the service's. False at the deadline. */
static bool end_contexts(struct veo_proc_handle *proc, int64_t deadline)
{
    bool drained = true;
    for (struct veo_thr_ctxt *c = proc->contexts; c != NULL && drained; c = c->next)
        if (!c->main && c != proc->service && !atomic_load(&c->gone))
            drained = veolib_context_end(c, deadline);
    return drained;
}

/* Ends the main context, and with it the worker. False at the deadline, or if the worker cannot be
 * told, for want of memory. */
static bool end_main_context(struct veo_proc_handle *proc, int64_t deadline)
{
    if (veolib_queue_drain(proc->main, deadline) == 1)
        return false;
    /* A worker that was killed has nothing to be told. */
    return veolib_worker_is_dead(&proc->worker) ||
           veolib_queue_simple(proc->main, WIRE_EXIT, 0, NULL) != VEO_REQUEST_ID_INVALID;
}

static void destroy(struct veo_proc_handle *proc, int64_t deadline)
{
    veolib_worker_check(&proc->worker);
    bool drained = end_contexts(proc, deadline);
    if (drained && !veolib_worker_is_dead(&proc->worker))
        drained = end_main_context(proc, deadline);

    /* A worker that says that it has crashed should be gone by now. */
    if (veolib_worker_is_dead(&proc->worker))
        deadline = clock_deadline(CRASH_LIMIT);
    veolib_worker_end(&proc->worker, drained ? deadline : 0);

    atomic_store(&proc->closing, true);
    veolib_proc_wait_for_users(proc);
    tear_down(proc);
    veolib_proc_release(proc);
}

VEO_EXPORT int veo_proc_destroy(struct veo_proc_handle *proc)
{
    bool alive = true;
    if (!veolib_proc_is_handle(proc)) {
        veolib_fail(EINVAL,
                    proc != NULL ? "%p is not a VE process" : "the process must not be NULL",
                    (const void *)proc);
        return -1;
    }
    if (veolib_proc_is_forked(proc)) {
        veolib_fail(EPERM, "this VE process was opened before a fork(); its parent destroys it");
        return -1;
    }
    if (!atomic_compare_exchange_strong(&proc->alive, &alive, false)) {
        veolib_fail(EINVAL, "the VE process is already destroyed");
        return -1;
    }

    destroy(proc, clock_deadline(DESTROY_LIMIT));
    return 0;
}

static void destroy_forgotten(struct veo_proc_handle *proc, void *deadline)
{
    bool alive = true;
    if (atomic_compare_exchange_strong(&proc->alive, &alive, false))
        destroy(proc, *(const int64_t *)deadline);
}

/* Processes that the program did not destroy. */
__attribute__((destructor)) static void destroy_all(void)
{
    int64_t deadline = clock_deadline(EXIT_LIMIT);
    veolib_proc_for_each(destroy_forgotten, &deadline);

    /* VEO_CHECK=exit=N; not of children, which the findings are not about. */
    uint32_t status = atomic_load(&check_status);
    if (status != 0 && atomic_load(&checked_pid) == getpid()) {
        fflush(NULL);
        _exit((int)status);
    }
}

/* --- questions --- */

VEO_EXPORT int veo_proc_identifier(struct veo_proc_handle *proc)
{
    return veolib_proc_is_alive(proc) ? proc->identifier : -1;
}

VEO_EXPORT pid_t veosoft_worker_pid(struct veo_proc_handle *proc)
{
    return veolib_proc_is_alive(proc) ? proc->worker.pid : -1;
}

VEO_EXPORT int veosoft_set_output(int out, int err)
{
    if ((out >= 0 && out <= WIRE_FD_LIFELINE) || (err >= 0 && err <= WIRE_FD_LIFELINE)) {
        veolib_fail(EINVAL, "descriptors up to %d are the worker's own: duplicate %d and %d",
                    WIRE_FD_LIFELINE, out, err);
        return -1;
    }

    veolib_worker_set_output(out < 0 ? -1 : out, err < 0 ? -1 : err);
    return 0;
}

VEO_EXPORT int veosoft_transfers_are_ordered(struct veo_proc_handle *proc)
{
    return !veolib_proc_is_alive(proc) || !proc->unordered;
}

VEO_EXPORT int veosoft_proc_kill(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return -1;
    veolib_worker_kill(&proc->worker);
    veolib_proc_leave(proc);
    return 0;
}

/* After a crash the report is there a moment before the process is gone. */
static void wait_until_reaped(struct veolib_worker *worker)
{
    int64_t deadline = clock_deadline(CLOCK_SECOND);
    veolib_worker_check(worker);
    while (veolib_worker_is_dead(worker) && !atomic_load(&worker->reaped) &&
           clock_now() < deadline) {
        struct timespec pause = {.tv_nsec = CLOCK_MILLISECOND / 5};
        nanosleep(&pause, NULL);
        veolib_worker_check(worker);
    }
}

VEO_EXPORT const char *veosoft_death_report(struct veo_proc_handle *proc)
{
    const char *text = "";
    if (!veolib_proc_enter(proc))
        return text;

    wait_until_reaped(&proc->worker);
    if (veolib_worker_is_dead(&proc->worker)) {
        veolib_worker_describe(&proc->worker);
        text = proc->worker.death;
    }
    veolib_proc_leave(proc);
    return text;
}

VEO_EXPORT size_t veosoft_heap_used(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return 0;

    /* Memory is freed when the request that frees it is harvested. */
    pthread_mutex_lock(&proc->contexts_lock);
    for (struct veo_thr_ctxt *c = proc->contexts; c != NULL; c = c->next)
        if (!atomic_load(&c->gone))
            veolib_queue_harvest(c);
    pthread_mutex_unlock(&proc->contexts_lock);

    size_t used = veolib_heap_used(&proc->memory);
    veolib_proc_leave(proc);
    return used;
}
