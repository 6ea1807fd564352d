/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/process_handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cores.h"
#include "veo/lib/args.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"
#include "veo/lib/handle_kind.h"
#include "veo/lib/memory_file.h"

static struct {
    pthread_mutex_t lock;
    struct veo_proc_handle *procs; /* all ever created */
    struct spin_board *board;      /* NULL while no handle is taken */
    int board_fd;
    _Atomic uint32_t fork_generation;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .board_fd = -1};

struct spin_side veolib_spin_side;

/* The child shares nothing with the parent's processes: it may open processes of its own. */
static void in_forked_child(void)
{
    atomic_fetch_add(&table.fork_generation, 1);
    pthread_mutex_init(&table.lock, NULL);
    veolib_args_after_fork();
    table.procs = NULL;
    table.board = NULL;
    table.board_fd = -1;
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_atfork(NULL, NULL, in_forked_child);
}

/* --- the spin board, with the table's lock --- */

static bool open_board(void)
{
    if (table.board != NULL)
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

    uint64_t longest = veolib_env_value(VEOLIB_ID_VEO_SOFT_SPIN_US);
    board->cores = usable_cores();
    board->longest_ns = (uint32_t)longest * 1000 + 1;
    atomic_store(&board->slots_used, 1);
    table.board = board;
    table.board_fd = fd;
    veolib_spin_side = spin_side_of(board, 0);
    return true;
}

static void close_board(void)
{
    munmap(table.board, sizeof *table.board);
    close(table.board_fd);
    table.board = NULL;
    table.board_fd = -1;
}

/* The first slot that no process has; the last one is shared if there are too many. */
static unsigned free_spin_slot(void)
{
    bool taken[SPIN_BOARD_SLOTS] = {false};
    for (const struct veo_proc_handle *p = table.procs; p != NULL; p = p->next)
        if (p->in_use)
            taken[p->spin_slot] = true;

    unsigned slot = 1;
    while (slot < SPIN_BOARD_SLOTS - 1 && taken[slot])
        slot++;
    if (slot >= atomic_load(&table.board->slots_used))
        atomic_store(&table.board->slots_used, slot + 1);
    return slot;
}

int veolib_spin_board_fd(void)
{
    return table.board_fd;
}

/* --- handles, with the table's lock --- */

/* The lowest identifier that no process has. */
static int free_identifier(void)
{
    int identifier = 0;
    for (bool clash = true; clash; identifier += clash) {
        clash = false;
        for (const struct veo_proc_handle *p = table.procs; p != NULL; p = p->next)
            clash = clash || (p->in_use && p->identifier == identifier);
    }
    return identifier;
}

/* A handle that is not in use, in the table; NULL without memory. */
static struct veo_proc_handle *find_free(void)
{
    struct veo_proc_handle *found = NULL;
    for (struct veo_proc_handle *p = table.procs; p != NULL; p = p->next)
        if (!p->in_use)
            found = p;
    if (found != NULL)
        return found;

    struct veo_proc_handle *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    fresh->kind = HANDLE_PROC;
    veolib_worker_init(&fresh->worker);
    veolib_memory_init(&fresh->memory);
    pthread_mutex_init(&fresh->contexts_lock, NULL);
    pthread_mutex_init(&fresh->symbols_lock, NULL);
    fresh->next = table.procs;
    table.procs = fresh;
    return fresh;
}

static void prepare(struct veo_proc_handle *proc)
{
    proc->identifier = free_identifier();
    proc->spin_slot = free_spin_slot();
    proc->in_use = true;
    proc->fork_generation = atomic_load(&table.fork_generation);
    proc->main = proc->service = NULL;
    atomic_store(&proc->closing, false);
    atomic_store(&proc->loading, 0);
    proc->late.there = false;
    veolib_worker_clear(&proc->worker);
}

struct veo_proc_handle *veolib_proc_take(void)
{
    struct veo_proc_handle *proc = NULL;
    pthread_mutex_lock(&table.lock);
    bool have_board = open_board();
    if (have_board)
        proc = find_free();
    if (proc != NULL)
        prepare(proc);
    pthread_mutex_unlock(&table.lock);

    if (have_board && proc == NULL)
        veolib_fail(ENOMEM, "out of memory (VE process)");
    return proc;
}

/* The board is closed with the last process, so that nothing of the library is left. */
void veolib_proc_release(struct veo_proc_handle *proc)
{
    bool last = true;
    pthread_mutex_lock(&table.lock);
    atomic_store(&table.board->spinning[proc->spin_slot], 0);
    proc->in_use = false;
    for (const struct veo_proc_handle *p = table.procs; p != NULL; p = p->next)
        last = last && !p->in_use;
    if (last)
        close_board();
    pthread_mutex_unlock(&table.lock);
}

/* --- calls --- */

bool veolib_proc_is_handle(const struct veo_proc_handle *proc)
{
    return proc != NULL && proc->kind == HANDLE_PROC;
}

bool veolib_proc_is_alive(const struct veo_proc_handle *proc)
{
    return veolib_proc_is_handle(proc) && atomic_load(&proc->alive);
}

bool veolib_proc_is_forked(const struct veo_proc_handle *proc)
{
    return proc->fork_generation !=
           atomic_load_explicit(&table.fork_generation, memory_order_relaxed);
}

bool veolib_proc_enter(struct veo_proc_handle *proc)
{
    if (!veolib_proc_is_handle(proc)) {
        veolib_fail(EINVAL,
                    proc != NULL ? "%p is not a VE process" : "the process must not be NULL",
                    (const void *)proc);
        return false;
    }
    if (veolib_proc_is_forked(proc)) {
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

void veolib_proc_wait_for_users(const struct veo_proc_handle *proc)
{
    while (atomic_load(&proc->users) > 0) {
        struct timespec pause = {.tv_nsec = CLOCK_MILLISECOND / 5};
        nanosleep(&pause, NULL);
    }
}

struct veo_proc_handle *veolib_proc_by_identifier(int identifier)
{
    struct veo_proc_handle *found = NULL;
    if (identifier < 0)
        return NULL;

    pthread_mutex_lock(&table.lock);
    for (struct veo_proc_handle *p = table.procs; p != NULL && found == NULL; p = p->next)
        if (p->identifier == identifier && atomic_load(&p->alive))
            found = p;
    pthread_mutex_unlock(&table.lock);
    return found;
}

void veolib_proc_for_each(void (*function)(struct veo_proc_handle *proc, void *argument),
                          void *argument)
{
    for (struct veo_proc_handle *p = table.procs; p != NULL; p = p->next)
        function(p, argument);
}
