/* SPDX-License-Identifier: BSD-3-Clause */
/* VE processes: the table of all, creation and destruction. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cores.h"
#include "veo/lib/host.h"

#define DESTROY_LIMIT (20 * CLOCK_SECOND)
/* A program that ends does not wait that long for a kernel that does not. */
#define EXIT_LIMIT (CLOCK_SECOND * 3 / 2)
/* A report of a crash takes no longer. */
#define CRASH_LIMIT (2 * CLOCK_SECOND)
#define SPIN_LONGEST_US 500
#define ADDRESS_TRIES 8

struct veolib_root veolib_root = {.lock = PTHREAD_MUTEX_INITIALIZER, .board_fd = -1};

/* A forked child shares nothing of ours: it may open processes of its own. */
static void in_forked_child(void)
{
    atomic_fetch_add(&veolib_root.fork_generation, 1);
    pthread_mutex_init(&veolib_root.lock, NULL);
    veolib_args_after_fork();
    veolib_root.procs = NULL;
    veolib_root.board = NULL;
    veolib_root.board_fd = -1;
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_atfork(NULL, NULL, in_forked_child);
}

/* With the root's lock. */
static bool set_up_board(void)
{
    if (veolib_root.board)
        return true;
    int fd = veolib_memory_file_new("offchip-veo-board", sizeof(struct spin_board));
    if (fd < 0)
        return false;
    struct spin_board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (board == MAP_FAILED) {
        int error = errno;
        close(fd);
        veolib_fail(error, "cannot map memory for a VE process: %s", strerror(error));
        return false;
    }
    board->cores = usable_cores();
    board->longest_ns =
        (uint32_t)(veolib_env_size("VEO_SOFT_SPIN_US", SPIN_LONGEST_US) % 1000001) * 1000 + 1;
    atomic_store(&board->seats_used, 1);
    veolib_root.board = board;
    veolib_root.side = spin_side_of(board, 0);
    veolib_root.board_fd = fd;
    return true;
}

/* --- handles -----------------------------------------------------------------------------------
 */

static bool is_process(const struct veo_proc_handle *proc)
{
    return proc && proc->kind == HANDLE_PROC;
}

bool veolib_proc_is_alive(const struct veo_proc_handle *proc)
{
    return is_process(proc) && atomic_load(&proc->alive);
}

bool veolib_proc_enter(struct veo_proc_handle *proc)
{
    if (!is_process(proc)) {
        veolib_fail(EINVAL, proc ? "%p is no process" : "no process given (NULL)",
                    (const void *)proc);
        return false;
    }
    if (proc->fork_generation !=
        atomic_load_explicit(&veolib_root.fork_generation, memory_order_relaxed)) {
        veolib_fail(EPERM, "this VE process was opened before a fork(); a child cannot use it, but "
                           "may open its own");
        return false;
    }
    atomic_fetch_add(&proc->users, 1);
    if (!atomic_load(&proc->alive)) {
        atomic_fetch_sub(&proc->users, 1);
        veolib_fail(EINVAL, "the VE process is destroyed");
        return false;
    }
    return true;
}

void veolib_proc_leave(struct veo_proc_handle *proc)
{
    atomic_fetch_sub_explicit(&proc->users, 1, memory_order_release);
}

struct veo_proc_handle *veolib_proc_by_identifier(int identifier)
{
    struct veo_proc_handle *found = NULL;
    if (identifier < 0)
        return NULL;
    pthread_mutex_lock(&veolib_root.lock);
    for (struct veo_proc_handle *p = veolib_root.procs; p && !found; p = p->next)
        if (p->identifier == identifier && atomic_load(&p->alive))
            found = p;
    pthread_mutex_unlock(&veolib_root.lock);
    return found;
}

static struct veo_proc_handle *handle_new(void)
{
    struct veo_proc_handle *proc = NULL;
    bool have_board;
    bool taken[SPIN_BOARD_SEATS] = {false};
    pthread_mutex_lock(&veolib_root.lock);
    if ((have_board = set_up_board())) {
        int identifier = 0;
        for (bool clash = true; clash; identifier += clash) {
            clash = false;
            for (struct veo_proc_handle *p = veolib_root.procs; p; p = p->next)
                clash = clash || (p->in_use && p->identifier == identifier);
        }
        for (struct veo_proc_handle *p = veolib_root.procs; p; p = p->next) {
            if (!p->in_use)
                proc = p;
            else
                taken[p->seat] = true;
        }
        if (!proc && (proc = calloc(1, sizeof *proc))) {
            proc->kind = HANDLE_PROC;
            pthread_mutex_init(&proc->memory, NULL);
            pthread_mutex_init(&proc->contexts_lock, NULL);
            pthread_mutex_init(&proc->symbols_lock, NULL);
            proc->next = veolib_root.procs;
            veolib_root.procs = proc;
        }
        if (proc) {
            unsigned seat = 1;
            while (seat < SPIN_BOARD_SEATS - 1 && taken[seat])
                seat++;
            if (seat >= atomic_load(&veolib_root.board->seats_used))
                atomic_store(&veolib_root.board->seats_used, seat + 1);
            proc->in_use = true;
            proc->identifier = identifier;
            proc->seat = seat;
            proc->fork_generation = atomic_load(&veolib_root.fork_generation);
            proc->memory_fd = proc->pidfd = proc->lifeline = -1;
            proc->pid = proc->child = -1;
            proc->header = NULL;
            proc->death[0] = 0;
            proc->main = proc->service = NULL;
            atomic_store(&proc->closing, false);
            atomic_store(&proc->dead, false);
            atomic_store(&proc->damaged, false);
            atomic_store(&proc->reaped, true);
            atomic_store(&proc->checked_at, 0);
        }
    }
    pthread_mutex_unlock(&veolib_root.lock);
    if (have_board && !proc)
        veolib_fail(ENOMEM, "no memory for a VE process");
    return proc;
}

/* The board goes with the last process, so that nothing of ours is left. */
static void handle_release(struct veo_proc_handle *proc)
{
    bool last = true;
    pthread_mutex_lock(&veolib_root.lock);
    atomic_store(&veolib_root.board->looking[proc->seat], 0);
    proc->in_use = false;
    for (const struct veo_proc_handle *p = veolib_root.procs; p; p = p->next)
        last = last && !p->in_use;
    if (last) {
        munmap(veolib_root.board, sizeof *veolib_root.board);
        close(veolib_root.board_fd);
        veolib_root.board = NULL;
        veolib_root.board_fd = -1;
    }
    pthread_mutex_unlock(&veolib_root.lock);
}

/* What is left when the worker is gone. */
static void tear_down(struct veo_proc_handle *proc)
{
    for (struct veo_thr_ctxt *c = proc->contexts; c; c = c->next)
        if (!atomic_load(&c->gone))
            veolib_context_delete(c);
    proc->main = proc->service = NULL;
    veolib_symbols_clear(proc);
    veolib_memory_unmap(proc);
}

/* --- API
 * ------------------------------------------------------------------------------------------ */

/* VEO_SOFT_TRANSFERS, for programs that write to a kernel which runs until it is told to end. */
static bool wants_unordered_transfers(void)
{
    const char *text = secure_getenv("VEO_SOFT_TRANSFERS");
    if (!text || !*text || strcmp(text, "ordered") == 0)
        return false;
    if (strcmp(text, "unordered") == 0)
        return true;
    veolib_log("VEO_SOFT_TRANSFERS='%s' is neither 'ordered' nor 'unordered' and is ignored", text);
    return false;
}

static struct veo_proc_handle *create(int venode, const char *program)
{
    int node = veolib_node_resolve(venode);
    if (node < 0)
        return NULL;
    struct veo_proc_handle *proc = handle_new();
    if (!proc)
        return NULL;
    proc->node = node;
    proc->unordered = wants_unordered_transfers();
    enum start_result started = START_ADDRESS_TAKEN;
    for (int i = 0; i < ADDRESS_TRIES && started == START_ADDRESS_TAKEN; i++) {
        started = START_FAILED;
        if (!veolib_memory_map(proc))
            break;
        proc->main = veolib_context_new(proc, true);
        proc->service = proc->main ? veolib_context_new(proc, false) : NULL;
        if (proc->service) {
            proc->header->main = proc->main->wire;
            proc->header->service = proc->service->wire;
            atomic_store(&proc->dead, false);
            started = veolib_worker_start(proc, program);
        }
        if (started != START_OK)
            tear_down(proc);
    }
    if (started == START_ADDRESS_TAKEN)
        veolib_fail(EADDRNOTAVAIL, "no address range was free in this process and in the worker");
    if (started != START_OK) {
        int error = errno;
        handle_release(proc);
        errno = error;
        return NULL;
    }
    atomic_store(&proc->alive, true);
    return proc;
}

/* A worker of NEC's SDK, by where it lies or by its name, such as aveorun-ftrace_ve1. */
static bool is_vendors_worker(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(path, "/opt/nec/", 9) == 0 ||
           strncmp(slash ? slash + 1 : path, "aveorun", 7) == 0;
}

/*
 * VEORUN_BIN; NULL for our own worker. Programs such as VEDA set the variable by themselves, to the
 * vendor's worker, which is not there where the vendor's SDK is not.
 */
static const char *chosen_worker(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *program = secure_getenv("VEORUN_BIN");
    if (!program || !*program)
        return NULL;

    if (!is_vendors_worker(program) || access(program, F_OK) == 0 || errno != ENOENT)
        return program;
    if (!atomic_flag_test_and_set(&told))
        veolib_log(
            "VEORUN_BIN='%s' is NEC's worker and does not exist; using the soft libveo's own",
            program);
    return NULL;
}

VEO_EXPORT struct veo_proc_handle *veo_proc_create(int venode)
{
    return create(venode, chosen_worker());
}

VEO_EXPORT struct veo_proc_handle *veo_proc_create_static(int venode, const char *veorun_path)
{
    if (!veorun_path || !*veorun_path) {
        veolib_fail(EINVAL, "no path of a worker program given");
        return NULL;
    }
    return create(venode, veorun_path);
}

static void wait_for_users(struct veo_proc_handle *proc)
{
    while (atomic_load(&proc->users)) {
        struct timespec moment = {.tv_nsec = CLOCK_MILLISECOND / 5};
        nanosleep(&moment, NULL);
    }
}

static void destroy(struct veo_proc_handle *proc, int64_t deadline)
{
    bool drained = true;
    veolib_proc_check(proc);
    for (struct veo_thr_ctxt *c = proc->contexts; c && drained; c = c->next)
        if (!c->main && c != proc->service && !atomic_load(&c->gone))
            drained = veolib_context_end(c, deadline);
    /* The main context last: its end is the end of the process, and of the service thread. */
    if (drained && !veolib_proc_is_dead(proc)) {
        atomic_store(&proc->main->ending, true);
        drained = veolib_queue_drain(proc->main, deadline) != 1;
        /* One that cannot be told, for want of memory, is not waited for. */
        if (drained)
            drained = veolib_queue_simple(proc->main, WIRE_EXIT, 0, NULL) != VEO_REQUEST_ID_INVALID;
    }
    /* One that says that it has crashed should be gone by now. */
    if (veolib_proc_is_dead(proc))
        deadline = clock_deadline(CRASH_LIMIT);
    veolib_worker_end(proc, drained ? deadline : 0);
    atomic_store(&proc->closing, true);
    wait_for_users(proc);
    tear_down(proc);
    handle_release(proc);
}

VEO_EXPORT int veo_proc_destroy(struct veo_proc_handle *proc)
{
    bool alive = true;
    if (!is_process(proc)) {
        veolib_fail(EINVAL, proc ? "%p is no process" : "no process given (NULL)",
                    (const void *)proc);
        return -1;
    }
    if (proc->fork_generation != atomic_load(&veolib_root.fork_generation)) {
        veolib_fail(EPERM, "this VE process was opened before a fork(); its parent destroys it");
        return -1;
    }
    if (!atomic_compare_exchange_strong(&proc->alive, &alive, false)) {
        veolib_fail(EINVAL, "the VE process is destroyed already");
        return -1;
    }
    destroy(proc, clock_deadline(DESTROY_LIMIT));
    return 0;
}

/* Processes that the program forgot. */
__attribute__((destructor)) static void destroy_all(void)
{
    int64_t deadline = clock_deadline(EXIT_LIMIT);
    for (struct veo_proc_handle *p = veolib_root.procs; p; p = p->next) {
        bool alive = true;
        if (atomic_compare_exchange_strong(&p->alive, &alive, false))
            destroy(p, deadline);
    }
}

VEO_EXPORT int veo_proc_identifier(struct veo_proc_handle *proc)
{
    return veolib_proc_is_alive(proc) ? proc->identifier : -1;
}

VEO_EXPORT pid_t veosoft_worker_pid(struct veo_proc_handle *proc)
{
    return veolib_proc_is_alive(proc) ? proc->pid : -1;
}

VEO_EXPORT int veosoft_transfers_are_ordered(struct veo_proc_handle *proc)
{
    return !veolib_proc_is_alive(proc) || !proc->unordered;
}

VEO_EXPORT int veosoft_proc_kill(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return -1;
    veolib_worker_kill(proc);
    veolib_proc_leave(proc);
    return 0;
}

VEO_EXPORT const char *veosoft_death_report(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return "";
    /* After a crash the report is there a moment before the process is gone. */
    int64_t deadline = clock_deadline(CLOCK_SECOND);
    veolib_proc_check(proc);
    while (veolib_proc_is_dead(proc) && !atomic_load(&proc->reaped) && clock_now() < deadline) {
        struct timespec moment = {.tv_nsec = CLOCK_MILLISECOND / 5};
        nanosleep(&moment, NULL);
        veolib_proc_check(proc);
    }
    bool dead = veolib_proc_is_dead(proc);
    if (dead)
        veolib_worker_describe(proc);
    const char *text = dead ? proc->death : "";
    veolib_proc_leave(proc);
    return text;
}
