/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define CHECK_INTERVAL (2 * CLOCK_MILLISECOND)
/* P_PIDFD of newer headers. */
#define BY_PIDFD ((idtype_t)3)

void veolib_worker_init(struct veolib_worker *worker)
{
    pthread_mutex_init(&worker->lock, NULL);
    veolib_worker_clear(worker);
}

void veolib_worker_clear(struct veolib_worker *worker)
{
    worker->header = NULL;
    worker->pid = worker->child = -1;
    worker->pidfd = worker->lifeline = -1;
    worker->death[0] = 0;
    atomic_store(&worker->dead, false);
    atomic_store(&worker->damaged, false);
    atomic_store(&worker->reaped, true);
    atomic_store(&worker->checked_at, 0);
}

/* With the lock. Writes the text once, as callers may be reading it. */
static void describe_death(struct veolib_worker *worker, const struct worker_exit *how)
{
    char *text = worker->death;
    size_t size = sizeof worker->death;
    long pid = (long)worker->pid;
    if (*text != 0)
        return;

    if (atomic_load(&worker->damaged)) {
        snprintf(text, size,
                 "the VE process %ld was killed: a kernel wrote over the memory that holds its "
                 "queues. Does one write beyond the end of a stack argument?",
                 pid);
    } else if (atomic_load(&worker->header->crashed)) {
        memcpy(text, worker->header->death, WIRE_DEATH_SIZE);
        text[WIRE_DEATH_SIZE - 1] = 0;
        if (*text == 0)
            snprintf(text, size, "the VE process %ld has crashed", pid);
    } else if (how->known && how->by_signal) {
        snprintf(text, size, "the VE process %ld was killed by signal %d (%s)", pid, how->code,
                 strsignal(how->code));
    } else if (how->known) {
        snprintf(text, size, "the VE process %ld exited with status %d: a kernel ended it", pid,
                 how->code);
    } else {
        snprintf(text, size, "the VE process %ld is gone", pid);
    }
}

/*
 * True if the child has ended, with how if that can be known. A program may ignore SIGCHLD, so that
 * its children are reaped by the kernel, or wait for all children itself; then the child's number
 * may belong to another process at any time. So the descriptor says whether it has ended.
 */
static bool has_ended(const struct veolib_worker *worker, struct worker_exit *how)
{
    siginfo_t info = {0};
    int rc;
    if (worker->pidfd >= 0) {
        struct pollfd p = {.fd = worker->pidfd, .events = POLLIN};
        if (poll(&p, 1, 0) != 1)
            return false;
        rc = waitid(BY_PIDFD, (id_t)worker->pidfd, &info, WEXITED | WNOHANG);
        if (rc != 0 && errno == EINVAL) /* Linux 5.3 */
            rc = waitid(P_PID, (id_t)worker->child, &info, WEXITED | WNOHANG);
    } else {
        rc = waitid(P_PID, (id_t)worker->child, &info, WEXITED | WNOHANG);
        if (rc == 0 && info.si_pid == 0)
            return false;
    }

    if (rc == 0 && info.si_pid == worker->child)
        *how = (struct worker_exit){
            .known = true, .by_signal = info.si_code != CLD_EXITED, .code = info.si_status};
    return true;
}

bool veolib_worker_reap(struct veolib_worker *worker, struct worker_exit *result)
{
    pthread_mutex_lock(&worker->lock);
    bool ended = atomic_load(&worker->reaped);
    if (!ended && has_ended(worker, result)) {
        ended = true;
        describe_death(worker, result);
        atomic_store(&worker->reaped, true);
    }
    pthread_mutex_unlock(&worker->lock);
    return ended;
}

void veolib_worker_describe(struct veolib_worker *worker)
{
    struct worker_exit unknown = {0};
    pthread_mutex_lock(&worker->lock);
    describe_death(worker, &unknown);
    pthread_mutex_unlock(&worker->lock);
}

void veolib_worker_kill(struct veolib_worker *worker)
{
    siginfo_t info = {0};
    if (atomic_load(&worker->reaped))
        return;
    if (worker->pidfd >= 0 && syscall(SYS_pidfd_send_signal, worker->pidfd, SIGKILL, NULL, 0) == 0)
        return;

    /* By number only while it is a child that nobody has waited for. */
    if (waitid(P_PID, (id_t)worker->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        kill(worker->child, SIGKILL);
}

void veolib_worker_damaged(struct veolib_worker *worker)
{
    if (atomic_exchange(&worker->damaged, true))
        return;
    veolib_worker_kill(worker);
    atomic_store_explicit(&worker->dead, true, memory_order_release);
}

void veolib_worker_check(struct veolib_worker *worker)
{
    struct worker_exit how = {0};
    if (!atomic_load(&worker->reaped) && veolib_worker_reap(worker, &how))
        atomic_store_explicit(&worker->dead, true, memory_order_release);
}

void veolib_worker_check_now_and_then(struct veolib_worker *worker)
{
    int64_t now = clock_now();
    int64_t then = atomic_load_explicit(&worker->checked_at, memory_order_relaxed);
    if (now - then < CHECK_INTERVAL)
        return;
    atomic_store_explicit(&worker->checked_at, now, memory_order_relaxed);
    veolib_worker_check(worker);
}

bool veolib_worker_is_dead(struct veolib_worker *worker)
{
    if (atomic_load_explicit(&worker->dead, memory_order_acquire))
        return true;
    if (!atomic_load_explicit(&worker->header->crashed, memory_order_acquire))
        return false;
    atomic_store_explicit(&worker->dead, true, memory_order_release);
    return true;
}

static void close_lifeline(struct veolib_worker *worker)
{
    if (worker->lifeline >= 0)
        close(worker->lifeline);
    worker->lifeline = -1;
}

/* Waits a little for the child to end. */
static void wait_a_little(const struct veolib_worker *worker)
{
    if (worker->pidfd >= 0) {
        struct pollfd p = {.fd = worker->pidfd, .events = POLLIN};
        poll(&p, 1, 100);
    } else {
        struct timespec pause = {.tv_nsec = CLOCK_MILLISECOND};
        nanosleep(&pause, NULL);
    }
}

void veolib_worker_end(struct veolib_worker *worker, int64_t deadline)
{
    struct worker_exit how = {0};
    bool killed = false;
    while (!veolib_worker_reap(worker, &how)) {
        if (!killed && clock_now() >= deadline) {
            veolib_worker_kill(worker);
            killed = true;
        }
        /* Under a debugger the worker is not a child, but the lifeline ends both. */
        if (killed)
            close_lifeline(worker);
        wait_a_little(worker);
    }

    close_lifeline(worker);
    if (worker->pidfd >= 0)
        close(worker->pidfd);
    worker->pidfd = -1;
    atomic_store_explicit(&worker->dead, true, memory_order_release);
}
