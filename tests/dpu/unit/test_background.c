/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that compiles in the background: does each job once and one at a time, ends when there
 * is none, starts again, is not inherited by a forked child, and ends with the process.
 *
 * build: @dpu_machine @dpu_translate tsan
 */
#include "hostcode/background.h"
#include "common/clock.h"
#include "hostcode/unseen_process.h"
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, JOBS = 200 };

static const char *const sleeps[] = {"/bin/sh", "-c", "sleep 1000", NULL};
static int waiting, done, forgotten; /* with the lock */
static int free_until;               /* so many are done whether held or not */
static _Atomic int working, held;
static bool sleeping;

static bool perform(void)
{
    if (waiting == 0)
        return false;

    waiting--;
    host_background_unlock();
    CHECK(atomic_fetch_add(&working, 1) == 0);
    while (held && done >= free_until)
        usleep(100);
    if (sleeping)
        CHECK(!host_unseen_run(sleeps, 0, 60 * CLOCK_SECOND));
    atomic_fetch_sub(&working, 1);
    host_background_lock();
    done++;
    return true;
}

static void forget(void)
{
    waiting = 0;
    forgotten++;
}

static const struct host_background_jobs jobs = {perform, forget};

/* With the lock. */
static void add(void)
{
    CHECK(host_background_start(&jobs));
    waiting++;
}

static void wait_for_end(void)
{
    int64_t deadline = clock_deadline(60 * CLOCK_SECOND);
    while (host_background_wait(deadline))
        continue;
    CHECK(clock_now() < deadline);
}

static void *add_many(void *unused)
{
    for (int i = 0; i < JOBS; i++) {
        host_background_lock();
        add();
        if (i % 50 == 0)
            wait_for_end();
        host_background_unlock();
    }
    return unused;
}

static void test_each_job_is_done_once(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, add_many, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);

    host_background_lock();
    wait_for_end();
    CHECK(done == THREADS * JOBS && waiting == 0);
    host_background_unlock();
}

static void test_wait_has_a_deadline(void)
{
    host_background_lock();
    held = 1;
    add();
    int before = done;
    int64_t deadline = clock_deadline(20 * CLOCK_MILLISECOND);
    while (host_background_wait(deadline))
        continue;
    CHECK(clock_now() >= deadline && done == before);

    held = 0;
    wait_for_end();
    CHECK(done == before + 1);
    host_background_unlock();
}

static void test_wait_ends_with_each_job(void)
{
    host_background_lock();
    int before = done;
    free_until = done + 1;
    held = 1;
    add();
    add();
    int64_t deadline = clock_deadline(20 * CLOCK_SECOND);
    while (done == before)
        CHECK(host_background_wait(deadline));
    CHECK(done == before + 1);

    held = 0;
    wait_for_end();
    host_background_unlock();
}

static void check_child(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* TSan refuses threads after a fork with threads. */
static void test_forked_child_starts_its_own(void)
{
#ifndef __SANITIZE_THREAD__
    host_background_lock();
    held = 1;
    add();
    add();
    host_background_unlock();
    while (working == 0)
        usleep(100);

    pid_t child = fork();
    if (child == 0) {
        held = working = 0;
        host_background_lock();
        int before = done;
        CHECK(forgotten == 1 && waiting == 0);
        CHECK(!host_background_wait(CLOCK_NEVER));
        add();
        wait_for_end();
        CHECK(done == before + 1);
        host_background_unlock();
        _exit(0);
    }

    check_child(child);
    held = 0;
    host_background_lock();
    wait_for_end();
    CHECK(forgotten == 0 && waiting == 0);
    host_background_unlock();
#endif
}

static void check_refused(void)
{
    host_background_lock();
    CHECK(!host_background_start(&jobs));
    CHECK(waiting == 1 && done == 1);
    host_background_unlock();
}

/* The compiler is stopped; what waits is not begun. */
__attribute__((destructor(101))) static void after_exit(void)
{
    if (sleeping)
        check_refused();
}

static void test_process_that_ends(void)
{
    int64_t start = clock_now();
    pid_t child = fork();
    if (child == 0) {
        sleeping = true;
        host_background_lock();
        add();
        add();
        host_background_unlock();
        while (working == 0)
            usleep(100);
        exit(0);
    }

    check_child(child);
    CHECK(clock_now() - start < 30 * CLOCK_SECOND);
}

int main(void)
{
    test_process_that_ends(); /* forks before there is a thread */
    test_each_job_is_done_once();
    test_wait_has_a_deadline();
    test_wait_ends_with_each_job();
    test_forked_child_starts_its_own();
    return 0;
}
