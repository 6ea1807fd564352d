/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command that runs for the library is nobody else's: no wait() of the host takes it, no signal
 * tells of it, what the host does with its own children does not matter, and it ends with the host.
 *
 * build: @dpu_machine @dpu_translate -Wl,--wrap=mmap tsan
 */
#include "hostcode/unseen_process.h"
#include "common/clock.h"
#include "tests/support/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const yes[] = {"/bin/sh", "-c", "exit 0", NULL};
static const char *const no[] = {"/bin/sh", "-c", "exit 3", NULL};
static const char *const absent[] = {"/nonexistent/program", NULL};
static const char *const says_pid[] = {"/bin/sh", "-c",
                                       "echo $$ >pid.new; mv pid.new pid; sleep 1000", NULL};
static _Atomic int signals, running;

static _Atomic bool mmap_fails;

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (!mmap_fails)
        return __real_mmap(at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static void count(int number)
{
    (void)number;
    signals++;
}

static void *run_many(void *unused)
{
    for (int i = 0; i < 40; i++)
        CHECK(host_unseen_run(yes, 0, 60 * CLOCK_SECOND));
    running = 0;
    return unused;
}

/* The host waits for any child all the time. */
static void test_nobody_sees_it(void)
{
    pthread_t thread;
    const struct sigaction action = {.sa_handler = count};
    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    running = 1;
    CHECK(pthread_create(&thread, NULL, run_many, NULL) == 0);
    while (running != 0)
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(signals == 0);
}

/* A host that ignores its children, or has them reaped. */
static void test_hosts_that_ignore_children(void)
{
    const struct sigaction ways[] = {
        {.sa_handler = SIG_IGN},
        {.sa_handler = count, .sa_flags = SA_NOCLDWAIT},
        {.sa_handler = SIG_DFL},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        CHECK(sigaction(SIGCHLD, &ways[i], NULL) == 0);
        CHECK(host_unseen_run(yes, 0, 60 * CLOCK_SECOND));
        CHECK(!host_unseen_run(no, 0, 60 * CLOCK_SECOND));
        CHECK(!host_unseen_run(absent, 0, 60 * CLOCK_SECOND));

        struct sigaction now;
        CHECK(sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == ways[i].sa_handler);
    }
}

/* The signals that the thread takes are as before. */
static void test_signals_of_the_thread(void)
{
    sigset_t some, before, after;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    CHECK(pthread_sigmask(SIG_SETMASK, &some, &before) == 0);
    CHECK(host_unseen_run(yes, 10, 60 * CLOCK_SECOND));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, &after) == 0);
    CHECK(sigismember(&after, SIGUSR1) == 1 && sigismember(&after, SIGTERM) == 0);
}

/* The command writes its number, and then sleeps. */
static pid_t wait_for_pid(void)
{
    int64_t deadline = clock_deadline(60 * CLOCK_SECOND);
    char text[32];
    FILE *file;
    while ((file = fopen("pid", "r")) == NULL && clock_now() < deadline)
        usleep(1000);
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL && fclose(file) == 0);
    return atoi(text);
}

/* A zombie that nobody waits for has no folder. */
static void wait_for_end(pid_t pid)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/cwd", pid);
    int64_t deadline = clock_deadline(60 * CLOCK_SECOND);
    while (readlink(path, target, sizeof target) >= 0 && clock_now() < deadline)
        usleep(1000);
    CHECK(readlink(path, target, sizeof target) < 0);
}

static void *run_for_ever(void *unused)
{
    CHECK(!host_unseen_run(says_pid, 0, CLOCK_NEVER));
    return unused;
}

enum end { KILLED, TERMINATED, ANOTHER_PROGRAM, ENDS };

static pid_t start_host(enum end end)
{
    pid_t host = fork();
    CHECK(host >= 0);
    if (host != 0)
        return host;

    pthread_t thread;
    host_unseen_forget();
    CHECK(pthread_create(&thread, NULL, run_for_ever, NULL) == 0);
    while (end == ANOTHER_PROGRAM && access("pid", F_OK) != 0)
        usleep(1000);
    if (end == ANOTHER_PROGRAM)
        execl("/bin/sh", "sh", "-c", "exec sleep 1000", NULL);
    for (;;)
        pause();
}

/* A host that is killed, ends without destructors, or becomes another program. */
static void test_it_ends_with_the_host(void)
{
    for (enum end end = KILLED; end < ENDS; end++) {
        unlink("pid");
        pid_t host = start_host(end), command = wait_for_pid();
        int status;
        if (end == ANOTHER_PROGRAM)
            wait_for_end(command);
        CHECK(kill(host, end == TERMINATED ? SIGTERM : SIGKILL) == 0);
        CHECK(waitpid(host, &status, 0) == host && WIFSIGNALED(status));
        wait_for_end(command);
    }
}

/* Nothing runs, and that is no success. */
static void test_without_memory(void)
{
    mmap_fails = true;
    CHECK(!host_unseen_run(yes, 0, 60 * CLOCK_SECOND));
    mmap_fails = false;
    CHECK(host_unseen_run(yes, 0, 60 * CLOCK_SECOND));
}

static void test_the_limit(void)
{
    unlink("pid");
    CHECK(!host_unseen_run(says_pid, 0, CLOCK_SECOND / 2));
    if (access("pid", F_OK) == 0)
        wait_for_end(wait_for_pid());
}

/* By another thread; and no other one starts. */
static void test_stopping(void)
{
    pthread_t thread;
    unlink("pid");
    CHECK(pthread_create(&thread, NULL, run_for_ever, NULL) == 0);
    pid_t command = wait_for_pid();
    host_unseen_stop();
    CHECK(pthread_join(thread, NULL) == 0);
    wait_for_end(command);
    CHECK(!host_unseen_run(yes, 0, CLOCK_NEVER));
}

int main(void)
{
    test_nobody_sees_it();
    test_hosts_that_ignore_children();
    test_signals_of_the_thread();
#if !defined(__SANITIZE_THREAD__) /* it has no threads in forked processes */
    test_it_ends_with_the_host();
#else
    (void)test_it_ends_with_the_host;
#endif
    test_without_memory();
    test_the_limit();
    test_stopping();
    return 0;
}
