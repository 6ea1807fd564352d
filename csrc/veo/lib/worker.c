/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker as a child process: starting it, seeing it die, ending it. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/futex.h"
#include "veo/lib/host.h"

#define START_LIMIT (20 * CLOCK_SECOND)
#define CHECK_INTERVAL (2 * CLOCK_MILLISECOND)
#define EM_VE 251
/* P_PIDFD of newer headers. */
#define BY_PIDFD ((idtype_t)3)

extern char **environ;

/* --- which program -------------------------------------------------------------------------- */

/* Our own worker lies beside this library or in ../bin. */
static bool find_own_worker(char *path)
{
    static const char *const places[] = {"../bin/veorun", "veorun"};
    Dl_info info;
    char here[PATH_MAX];
    if (!dladdr((const void *)find_own_worker, &info) || !realpath(info.dli_fname, here)) {
        veolib_fail(
            ENOENT,
            "cannot tell where the soft libveo is, so its worker cannot be found; set VEORUN_BIN");
        return false;
    }
    char *slash = strrchr(here, '/');
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if ((size_t)snprintf(path, PATH_MAX, "%s/%s", here, places[i]) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    }
    veolib_fail(ENOENT, "no worker program 'veorun' in %s or %s/../bin; set VEORUN_BIN to its path",
                here, here);
    return false;
}

static bool check_program(const char *path)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        veolib_fail(errno, "cannot start the worker '%s': %s", path, strerror(errno));
        return false;
    }
    ssize_t n = read(fd, &header, sizeof header);
    close(fd);
    if (n == (ssize_t)sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)) {
        if (header.e_machine == EM_VE)
            veolib_fail(
                ENOEXEC,
                "the worker '%s' is a Vector Engine program; the soft libveo runs on the host "
                "and needs one built for it (python -m veo.static_worker)",
                path);
        else
            veolib_fail(ENOEXEC, "the worker '%s' is no x86-64 program (ELF machine %u)", path,
                        header.e_machine);
        return false;
    }
    if (access(path, X_OK) != 0) {
        veolib_fail(errno, "the worker '%s' cannot be executed: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* --- its environment -------------------------------------------------------------------------- */

static const char *value_of(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* NAME=VALUE as allocated text, NULL without memory. */
static char *assignment(const char *name, const char *value, const char *rest)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s%s%s", name, value, rest ? ":" : "", rest ? rest : "") < 0)
        return NULL;
    return text;
}

struct environment {
    char **vector;
    char *made[2];
};

/* What the vendor's runtime reads under VE_ names has its usual name on the host. */
static bool make_environment(struct environment *env)
{
    size_t n = 0;
    while (environ[n])
        n++;
    env->vector = calloc(n + 3, sizeof *env->vector);
    if (!env->vector)
        return false;
    const char *path = value_of("VE_LD_LIBRARY_PATH");
    const char *threads = value_of("VE_OMP_NUM_THREADS");
    env->made[0] = path ? assignment("LD_LIBRARY_PATH", path, value_of("LD_LIBRARY_PATH")) : NULL;
    env->made[1] = threads ? assignment("OMP_NUM_THREADS", threads, NULL) : NULL;
    size_t k = 0;
    for (int i = 0; i < 2; i++)
        if (env->made[i])
            env->vector[k++] = env->made[i];
    for (size_t i = 0; i < n; i++) {
        bool replaced = (env->made[0] && strncmp(environ[i], "LD_LIBRARY_PATH=", 16) == 0) ||
                        (env->made[1] && strncmp(environ[i], "OMP_NUM_THREADS=", 16) == 0);
        if (!replaced)
            env->vector[k++] = environ[i];
    }
    return true;
}

static void free_environment(struct environment *env)
{
    free(env->vector);
    free(env->made[0]);
    free(env->made[1]);
}

/* --- dying ---------------------------------------------------------------------------------------
 */

/* How the child ended, or not known yet. */
struct ending {
    bool known;
    bool by_signal;
    int code; /* its exit code or the signal */
};

/* With the lock of the root. Once, as callers may be reading the text. */
static void describe_death(struct veo_proc_handle *proc, const struct ending *ending)
{
    char *text = proc->death;
    size_t size = sizeof proc->death;
    if (*text)
        return;
    if (atomic_load(&proc->damaged)) {
        snprintf(text, size,
                 "the VE process %ld was ended: a kernel wrote over the memory that holds its "
                 "queues. Does one write beyond the end of a stack argument?",
                 (long)proc->pid);
    } else if (atomic_load(&proc->header->crashed)) {
        memcpy(text, proc->header->death, WIRE_DEATH_SIZE);
        text[WIRE_DEATH_SIZE - 1] = 0;
        if (!*text)
            snprintf(text, size, "the VE process %ld has crashed", (long)proc->pid);
    } else if (ending->known && ending->by_signal) {
        snprintf(text, size, "the VE process %ld was killed by signal %d (%s)", (long)proc->pid,
                 ending->code, strsignal(ending->code));
    } else if (ending->known) {
        snprintf(text, size, "the VE process %ld exited with status %d: a kernel ended it",
                 (long)proc->pid, ending->code);
    } else {
        snprintf(text, size, "the VE process %ld is gone", (long)proc->pid);
    }
}

/*
 * Whether the child has ended, and how if that can be known. A program may have its children reaped
 * without anybody's waiting, or wait for all of them itself; then their numbers may be those of
 * other processes at any time. So the descriptor says that it has ended.
 */
static bool has_ended(const struct veo_proc_handle *proc, struct ending *ending)
{
    siginfo_t info = {0};
    int rc;
    if (proc->pidfd >= 0) {
        struct pollfd p = {.fd = proc->pidfd, .events = POLLIN};
        if (poll(&p, 1, 0) != 1)
            return false;
        rc = waitid(BY_PIDFD, (id_t)proc->pidfd, &info, WEXITED | WNOHANG);
        if (rc != 0 && errno == EINVAL) /* Linux 5.3 */
            rc = waitid(P_PID, (id_t)proc->child, &info, WEXITED | WNOHANG);
    } else {
        rc = waitid(P_PID, (id_t)proc->child, &info, WEXITED | WNOHANG);
        if (rc == 0 && info.si_pid == 0)
            return false;
    }
    if (rc == 0 && info.si_pid == proc->child)
        *ending = (struct ending){
            .known = true, .by_signal = info.si_code != CLD_EXITED, .code = info.si_status};
    return true;
}

/* True if it has ended, whoever notices; ENDING is written if it is this caller. */
static bool reap(struct veo_proc_handle *proc, struct ending *ending)
{
    pthread_mutex_lock(&veolib_root.lock);
    bool ended = atomic_load(&proc->reaped);
    if (!ended && has_ended(proc, ending)) {
        ended = true;
        describe_death(proc, ending);
        atomic_store(&proc->reaped, true);
    }
    pthread_mutex_unlock(&veolib_root.lock);
    return ended;
}

void veolib_worker_describe(struct veo_proc_handle *proc)
{
    struct ending unknown = {0};
    pthread_mutex_lock(&veolib_root.lock);
    describe_death(proc, &unknown);
    pthread_mutex_unlock(&veolib_root.lock);
}

void veolib_worker_kill(struct veo_proc_handle *proc)
{
    siginfo_t info = {0};
    if (atomic_load(&proc->reaped))
        return;
    if (proc->pidfd >= 0 && syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0) == 0)
        return;
    /* By number only while it is our child and nobody has waited for it. */
    if (waitid(P_PID, (id_t)proc->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        kill(proc->child, SIGKILL);
}

void veolib_worker_damaged(struct veo_proc_handle *proc)
{
    if (atomic_exchange(&proc->damaged, true))
        return;
    veolib_worker_kill(proc);
    atomic_store_explicit(&proc->dead, true, memory_order_release);
}

void veolib_proc_check(struct veo_proc_handle *proc)
{
    struct ending ending = {0};
    if (!atomic_load(&proc->reaped) && reap(proc, &ending))
        atomic_store_explicit(&proc->dead, true, memory_order_release);
}

void veolib_proc_check_now_and_then(struct veo_proc_handle *proc)
{
    int64_t now = clock_now();
    int64_t then = atomic_load_explicit(&proc->checked_at, memory_order_relaxed);
    if (now - then >= CHECK_INTERVAL) {
        atomic_store_explicit(&proc->checked_at, now, memory_order_relaxed);
        veolib_proc_check(proc);
    }
}

bool veolib_proc_is_dead(struct veo_proc_handle *proc)
{
    if (atomic_load_explicit(&proc->dead, memory_order_acquire))
        return true;
    if (!atomic_load_explicit(&proc->header->crashed, memory_order_acquire))
        return false;
    atomic_store_explicit(&proc->dead, true, memory_order_release);
    return true;
}

void veolib_worker_end(struct veo_proc_handle *proc, int64_t deadline)
{
    struct ending ending = {0};
    bool killed = false;
    while (!reap(proc, &ending)) {
        if (!killed && clock_now() >= deadline) {
            veolib_worker_kill(proc);
            killed = true;
        }
        /* Under a debugger the worker is not our child, but the lifeline ends both. */
        if (killed && proc->lifeline >= 0) {
            close(proc->lifeline);
            proc->lifeline = -1;
        }
        if (proc->pidfd >= 0) {
            struct pollfd p = {.fd = proc->pidfd, .events = POLLIN};
            poll(&p, 1, 100);
        } else {
            struct timespec moment = {.tv_nsec = CLOCK_MILLISECOND};
            nanosleep(&moment, NULL);
        }
    }
    if (proc->lifeline >= 0)
        close(proc->lifeline);
    if (proc->pidfd >= 0)
        close(proc->pidfd);
    proc->lifeline = -1;
    proc->pidfd = -1;
    atomic_store_explicit(&proc->dead, true, memory_order_release);
}

/* --- starting ----------------------------------------------------------------------------------
 */

static void pin(pid_t pid)
{
    const char *text = value_of("VE_CORE_NUMBER");
    if (!text)
        return;
    char *end;
    long core = strtol(text, &end, 10);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (*end || core < 0 || cores < 1) {
        veolib_fail(EINVAL, "VE_CORE_NUMBER='%s' is no core number and is ignored", text);
        return;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(core % cores), &set);
    sched_setaffinity(pid, sizeof set, &set);
}

static int spawn(struct veo_proc_handle *proc, const char *program, int board, int lifeline,
                 pid_t *pid)
{
    char address[32];
    char size[32];
    char host[32];
    snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)proc->header);
    snprintf(size, sizeof size, "%zx", proc->mapped);
    snprintf(host, sizeof host, "%ld", (long)getpid());
    /* For debugging a kernel: VEO_DEBUG=console, or =xterm for a window of its own. */
    const char *debug = value_of("VEO_DEBUG");
    char *argv[16];
    int n = 0;
    if (debug && strcmp(debug, "xterm") == 0) {
        argv[n++] = "xterm";
        argv[n++] = "-e";
    }
    if (debug) {
        argv[n++] = "gdb";
        argv[n++] = "--args";
    }
    const char *file = debug ? argv[0] : program;
    argv[n++] = (char *)(uintptr_t)program;
    argv[n++] = WIRE_ARGV_TAG;
    argv[n++] = address;
    argv[n++] = size;
    argv[n++] = host;
    argv[n] = NULL;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&actions, proc->memory_fd, WIRE_FD_MEMORY);
    posix_spawn_file_actions_adddup2(&actions, board, WIRE_FD_BOARD);
    posix_spawn_file_actions_adddup2(&actions, lifeline, WIRE_FD_LIFELINE);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    struct environment env = {0};
    int error = ENOMEM;
    if (make_environment(&env))
        error = debug ? posix_spawnp(pid, file, &actions, &attr, argv, env.vector)
                      : posix_spawn(pid, file, &actions, &attr, argv, env.vector);
    free_environment(&env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Moves a descriptor out of the way of those that the worker gets. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    /* EINVAL: all descriptors that are allowed lie below. */
    int error = moved < 0 && errno == EINVAL ? EMFILE : errno;
    close(fd);
    errno = error;
    return moved;
}

static enum start_result await_start(struct veo_proc_handle *proc, const char *program)
{
    int64_t deadline = value_of("VEO_DEBUG") ? CLOCK_NEVER : clock_deadline(START_LIMIT);
    for (;;) {
        uint32_t start = atomic_load(&proc->header->start);
        if (start == WIRE_RUNNING)
            return START_OK;
        if (start == WIRE_REFUSED) {
            char text[WIRE_ERROR_SIZE];
            memcpy(text, proc->header->start_error, sizeof text);
            text[sizeof text - 1] = 0;
            veolib_fail(EPROTO, "the worker '%s' did not start: %s", program, text);
            return START_FAILED;
        }

        futex_sleep(&proc->header->start, WIRE_STARTING, 5 * CLOCK_MILLISECOND);
        struct ending ending = {.code = -1};
        if (reap(proc, &ending)) {
            if (atomic_load(&proc->header->start) == WIRE_REFUSED)
                continue;
            if (ending.known && !ending.by_signal && ending.code == WIRE_EXIT_ADDRESS_TAKEN)
                return START_ADDRESS_TAKEN;
            veolib_fail(
                EPROTO,
                "the worker '%s' ended (%s %d) before it was ready: is it a program made by "
                "python -m veo.static_worker?",
                program, ending.by_signal ? "signal" : "exit code", ending.code);
            return START_FAILED;
        }
        if (clock_now() >= deadline) {
            veolib_fail(ETIMEDOUT, "the worker '%s' was not ready within %d s", program,
                        (int)(START_LIMIT / CLOCK_SECOND));
            return START_FAILED;
        }
    }
}

enum start_result veolib_worker_start(struct veo_proc_handle *proc, const char *program)
{
    char own[PATH_MAX];
    int ends[2] = {-1, -1};
    if (!program) {
        if (!find_own_worker(own))
            return START_FAILED;
        program = own;
    }
    if (!check_program(program))
        return START_FAILED;
    if (pipe2(ends, O_CLOEXEC) != 0 || (ends[0] = move_up(ends[0])) < 0) {
        veolib_fail(errno, "no pipe to the worker: %s%s", strerror(errno),
                    errno == EMFILE ? " (ulimit -n)" : "");
        if (ends[1] >= 0)
            close(ends[1]);
        return START_FAILED;
    }
    pid_t pid = -1;
    int error = spawn(proc, program, veolib_root.board_fd, ends[0], &pid);
    close(ends[0]);
    if (error) {
        close(ends[1]);
        veolib_fail(error, "cannot start the worker '%s': %s", program, strerror(error));
        return START_FAILED;
    }
    proc->pid = proc->child = pid;
    proc->lifeline = ends[1];
    proc->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    error = proc->pidfd < 0 ? errno : 0;
    atomic_store(&proc->reaped, false);
    pin(pid);

    enum start_result result = START_FAILED;
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
        veolib_fail(error, "no descriptor for the worker's process: %s%s", strerror(error),
                    error == EMFILE ? " (ulimit -n)" : "");
    else
        result = await_start(proc, program);
    if (result != START_OK) {
        error = errno;
        veolib_worker_end(proc, 0);
        errno = error;
        return result;
    }
    /* Under a debugger it is not our child. */
    pid_t said = (pid_t) * (const volatile int32_t *)&proc->header->worker_pid;
    if (value_of("VEO_DEBUG") && said > 0)
        proc->pid = said;
    veolib_log_debug("worker '%s' is process %ld", program, (long)proc->pid);
    return result;
}
