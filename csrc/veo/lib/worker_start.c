/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/worker_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/futex.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"
#include "veo/lib/worker_program.h"

#define START_LIMIT (20 * CLOCK_SECOND)

extern char **environ;

/* NAME=VALUE or NAME=VALUE:REST as allocated text; NULL without memory, or if VALUE is NULL. */
static char *assignment(const char *name, const char *value, const char *rest)
{
    char *text = NULL;
    if (value == NULL || asprintf(&text, "%s=%s%s%s", name, value, rest != NULL ? ":" : "",
                                  rest != NULL ? rest : "") < 0)
        return NULL;
    return text;
}

/* The worker's environment: VE_LD_LIBRARY_PATH and VE_OMP_NUM_THREADS, which the vendor's runtime
 * reads on the VE, have their usual names on the host. */
struct environment {
    char **vector;
    char *library_path;
    char *threads;
};

static bool make_environment(struct environment *env)
{
    size_t n = 0;
    size_t k = 0;
    while (environ[n] != NULL)
        n++;
    env->vector = calloc(n + 3, sizeof *env->vector);
    if (env->vector == NULL)
        return false;

    env->library_path = assignment("LD_LIBRARY_PATH", veolib_env_text("VE_LD_LIBRARY_PATH"),
                                   veolib_env_text("LD_LIBRARY_PATH"));
    env->threads = assignment("OMP_NUM_THREADS", veolib_env_text("VE_OMP_NUM_THREADS"), NULL);
    if (env->library_path != NULL)
        env->vector[k++] = env->library_path;
    if (env->threads != NULL)
        env->vector[k++] = env->threads;

    for (size_t i = 0; i < n; i++) {
        bool replaced =
            (env->library_path != NULL && strncmp(environ[i], "LD_LIBRARY_PATH=", 16) == 0) ||
            (env->threads != NULL && strncmp(environ[i], "OMP_NUM_THREADS=", 16) == 0);
        if (!replaced)
            env->vector[k++] = environ[i];
    }
    return true;
}

static void free_environment(struct environment *env)
{
    free(env->vector);
    free(env->library_path);
    free(env->threads);
}

/* Binds the process to the core in VE_CORE_NUMBER, if that is set. */
static void pin(pid_t pid)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (veolib_env_text("VE_CORE_NUMBER") == NULL || cores < 1)
        return;

    long core = (long)veolib_env_value(VEOLIB_ID_VE_CORE_NUMBER);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(core % cores), &set);
    sched_setaffinity(pid, sizeof set, &set);
}

enum { ARGV_SIZE = 16 };

/* Texts of the worker's arguments. */
struct arguments {
    char address[32];
    char size[32];
    char host[32];
    char *vector[ARGV_SIZE];
};

/* VEO_DEBUG=console runs the worker under gdb, VEO_DEBUG=xterm in a window of its own. */
static void make_arguments(struct arguments *args, const struct veolib_memory *memory,
                           const char *program, const char *code, const char *debug)
{
    snprintf(args->address, sizeof args->address, "%llx",
             (unsigned long long)(uintptr_t)memory->header);
    snprintf(args->size, sizeof args->size, "%zx", memory->mapped);
    snprintf(args->host, sizeof args->host, "%ld", (long)getpid());

    int n = 0;
    if (debug != NULL && strcmp(debug, "xterm") == 0) {
        args->vector[n++] = "xterm";
        args->vector[n++] = "-e";
    }
    if (debug != NULL) {
        args->vector[n++] = "gdb";
        args->vector[n++] = "--args";
    }

    args->vector[n++] = (char *)(uintptr_t)program;
    args->vector[n++] = WIRE_ARGV_TAG;
    args->vector[n++] = args->address;
    args->vector[n++] = args->size;
    args->vector[n++] = args->host;
    args->vector[n++] = (char *)(uintptr_t)code;
    args->vector[n] = NULL;
}

/* Where workers of this thread print, -1 for the host's. */
static _Thread_local int output_fd = -1;
static _Thread_local int error_fd = -1;

void veolib_worker_set_output(int out, int err)
{
    output_fd = out;
    error_fd = err;
}

/* 0 or an errno. */
static int spawn(const struct veolib_memory *memory, const char *program, const char *code,
                 int board_fd, int lifeline, pid_t *pid)
{
    const char *debug = veolib_env_text("VEO_DEBUG");
    struct arguments args;
    struct environment env = {0};
    make_arguments(&args, memory, program, code, debug);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
    if (error_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, memory->fd, WIRE_FD_MEMORY);
    posix_spawn_file_actions_adddup2(&actions, board_fd, WIRE_FD_BOARD);
    posix_spawn_file_actions_adddup2(&actions, lifeline, WIRE_FD_LIFELINE);

    posix_spawnattr_t attr;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    int error = ENOMEM;
    if (make_environment(&env))
        error = debug != NULL
                    ? posix_spawnp(pid, args.vector[0], &actions, &attr, args.vector, env.vector)
                    : posix_spawn(pid, program, &actions, &attr, args.vector, env.vector);

    free_environment(&env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Moves a descriptor away from those that the worker gets; -1 with errno, and FD is closed. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    /* EINVAL: the limit on descriptors is below 16. */
    int error = moved < 0 && errno == EINVAL ? EMFILE : errno;
    close(fd);
    errno = error;
    return moved;
}

/* Opens the pipe that ends the worker when the host does. False (error set) on failure. */
static bool open_lifeline(int ends[2])
{
    ends[0] = ends[1] = -1;
    if (pipe2(ends, O_CLOEXEC) == 0 && (ends[0] = move_up(ends[0])) >= 0)
        return true;

    veolib_fail(errno, "cannot create a pipe to the worker: %s%s", strerror(errno),
                errno == EMFILE ? " (ulimit -n)" : "");
    if (ends[1] >= 0)
        close(ends[1]);
    return false;
}

static enum start_result fail_refused(const struct wire_header *header, const char *program)
{
    char text[WIRE_ERROR_SIZE];
    memcpy(text, header->start_error, sizeof text);
    text[sizeof text - 1] = 0;
    veolib_fail(EPROTO, "the worker '%s' did not start: %s", program, text);
    return START_FAILED;
}

static enum start_result fail_ended(const struct worker_exit *how, const char *program)
{
    if (how->known && !how->by_signal && how->code == WIRE_EXIT_ADDRESS_TAKEN)
        return START_ADDRESS_TAKEN;
    veolib_fail(EPROTO,
                "the worker '%s' ended (%s %d) before it was ready: is it a program made by "
                "python -m veo.static_worker?",
                program, how->by_signal ? "signal" : "exit code", how->code);
    return START_FAILED;
}

/* Waits until the worker says that it is ready. */
static enum start_result await_start(struct veolib_worker *worker, const char *program)
{
    struct wire_header *header = worker->header;
    bool debug = veolib_env_text("VEO_DEBUG") != NULL;
    int64_t deadline = debug ? CLOCK_NEVER : clock_deadline(START_LIMIT);
    for (;;) {
        uint32_t start = atomic_load(&header->start);
        if (start == WIRE_RUNNING)
            return START_OK;
        if (start == WIRE_REFUSED)
            return fail_refused(header, program);

        futex_sleep(&header->start, WIRE_STARTING, 5 * CLOCK_MILLISECOND);
        struct worker_exit how = {.code = -1};
        if (veolib_worker_reap(worker, &how) && atomic_load(&header->start) != WIRE_REFUSED)
            return fail_ended(&how, program);
        if (clock_now() >= deadline) {
            veolib_fail(ETIMEDOUT, "the worker '%s' was not ready within %d s", program,
                        (int)(START_LIMIT / CLOCK_SECOND));
            return START_FAILED;
        }
    }
}

/* Notes the child, and waits until it is ready. */
static enum start_result adopt(struct veolib_worker *worker, const char *program, pid_t pid,
                               int lifeline)
{
    worker->pid = worker->child = pid;
    worker->lifeline = lifeline;
    worker->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    int error = worker->pidfd < 0 ? errno : 0;
    atomic_store(&worker->reaped, false);
    pin(pid);

    if (error == EMFILE || error == ENFILE || error == ENOMEM) {
        veolib_fail(error, "cannot open a descriptor of the worker's process: %s%s",
                    strerror(error), error == EMFILE ? " (ulimit -n)" : "");
        return START_FAILED;
    }
    return await_start(worker, program);
}

enum start_result veolib_worker_start(struct veolib_worker *worker,
                                      const struct veolib_memory *memory, int board_fd,
                                      const char *program)
{
    char own[PATH_MAX];
    int ends[2];
    pid_t pid = -1;
    worker->header = memory->header;
    atomic_store(&worker->dead, false);

    const char *code;
    program = veolib_worker_program(program, own, &code);
    if (program == NULL || !open_lifeline(ends))
        return START_FAILED;
    int error = spawn(memory, program, code, board_fd, ends[0], &pid);
    if (code != NULL)
        program = code;
    close(ends[0]);
    if (error) {
        close(ends[1]);
        veolib_fail(error, "cannot start the worker '%s': %s", program, strerror(error));
        return START_FAILED;
    }

    enum start_result result = adopt(worker, program, pid, ends[1]);
    if (result != START_OK) {
        error = errno;
        veolib_worker_end(worker, 0);
        errno = error;
        return result;
    }

    /* Under a debugger the worker is not the child. */
    pid_t said = (pid_t) * (const volatile int32_t *)&memory->header->worker_pid;
    if (veolib_env_text("VEO_DEBUG") != NULL && said > 0)
        worker->pid = said;
    veolib_log_debug("worker '%s' is process %ld", program, (long)worker->pid);
    return START_OK;
}
