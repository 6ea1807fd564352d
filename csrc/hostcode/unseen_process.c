/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unseen_process.c: a keeper between the host program and the command.
 *
 * The system tells of a child in the way that its creation asked for, until it executes another
 * program: then it is a usual child, which wait() takes. So the command is the child of a keeper,
 * which executes no other program, and was created without a signal: only who asks for such
 * children (__WCLONE) can wait for it. The keeper shares the memory of the host program, whose
 * thread stands still until the keeper ends, as with vfork().
 */
#include "hostcode/unseen_process.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)256 << 10)
/* Signal that stops the keeper, by host_unseen_stop() and at the end of the host. */
#define STOP SIGTERM

#if defined(__SANITIZE_THREAD__)
/* ThreadSanitizer takes what is called clone() for fork(). */
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#endif

extern char **environ;

struct command {
    const char *const *words;
    char **environment;
    int nice;
    int64_t deadline;
    pid_t host;
};

/* The keeper that runs. */
static struct {
    pthread_mutex_t lock;
    pid_t keeper; /* 0: none; the system writes it */
    bool stopped;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_stopped(void)
{
    return __atomic_load_n(&running.stopped, __ATOMIC_SEQ_CST);
}

/* The environment without what is to be loaded into this program only. NULL if out of memory. */
static char **make_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **copy = malloc((count + 1) * sizeof *copy);
    for (size_t i = 0; copy != NULL && i <= count; i++)
        if (environ[i] == NULL || strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
            copy[kept++] = environ[i];
    return copy;
}

/* --- the keeper: all signals are blocked --- */

/* Without signals that the host blocks, as a group of its own, and with nothing to read or say. */
static bool spawn(const struct command *command, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(pid, command->words[0], &files, &attributes,
                            (char *const *)command->words, command->environment);

    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error == 0;
}

/* It stays for waitpid(). */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static void wait_for(pid_t pid, int64_t deadline)
{
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, STOP);
    while (!has_ended(pid) && !is_stopped()) {
        int64_t left = deadline - clock_now();
        if (left <= 0)
            return;

        const struct timespec limit = {left / CLOCK_SECOND, (long)(left % CLOCK_SECOND)};
        if (sigtimedwait(&awaited, NULL, &limit) == STOP)
            return;
    }
}

static int keep(void *argument)
{
    const struct command *command = argument;
    /* The host may ignore its children; and its table of handlers, which tools that check programs
     * have too, is not this process's. */
    const unsigned long usual[8] = {0};
    syscall(SYS_rt_sigaction, SIGCHLD, usual, NULL, sizeof(unsigned long));
    prctl(PR_SET_PDEATHSIG, STOP);
    if (getppid() != command->host || is_stopped())
        return 1;

    pid_t pid;
    if (!spawn(command, &pid))
        return 1;
    setpriority(PRIO_PROCESS, (id_t)pid, getpriority(PRIO_PROCESS, 0) + command->nice);
    wait_for(pid, command->deadline);
    if (!has_ended(pid))
        kill(-pid, SIGKILL);

    int status = 0;
    pid_t reaped;
    while ((reaped = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    return reaped == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* --- the host --- */

/* From now on nobody sends it a signal. */
static bool reap(pid_t keeper)
{
    pthread_mutex_lock(&running.lock);
    running.keeper = 0;
    pthread_mutex_unlock(&running.lock);
    if (keeper < 0)
        return false;

    int status = 0;
    pid_t reaped;
    while ((reaped = waitpid(keeper, &status, (int)__WCLONE)) < 0 && errno == EINTR)
        continue;
    return reaped == keeper && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run(struct command *command)
{
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return false;

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t keeper = clone(keep, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID,
                         command, &running.keeper);
    bool done = reap(keeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_SIZE);
    return done;
}

bool host_unseen_run(const char *const *words, int nice, int64_t limit_ns)
{
    struct command command = {
        .words = words,
        .environment = make_environment(),
        .nice = nice,
        .deadline = clock_deadline(limit_ns),
        .host = getpid(),
    };
    bool done = command.environment != NULL && !is_stopped() && run(&command);
    free(command.environment);
    return done;
}

void host_unseen_stop(void)
{
    /* Before the keeper's number is read: a keeper that has no number yet looks at it. */
    __atomic_store_n(&running.stopped, true, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&running.lock);
    pid_t keeper = __atomic_load_n(&running.keeper, __ATOMIC_SEQ_CST);
    if (keeper != 0)
        kill(keeper, STOP);
    pthread_mutex_unlock(&running.lock);
}

void host_unseen_forget(void)
{
    pthread_mutex_init(&running.lock, NULL);
    running.keeper = 0;
}
