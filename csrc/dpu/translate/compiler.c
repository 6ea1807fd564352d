/* SPDX-License-Identifier: BSD-3-Clause */
#include "compiler.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/clock.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Code of a library that is checked is checked too. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECKS "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"
#else
#define CHECKS "-fno-sanitize=undefined"
#endif

/* -O1 allocates registers, and does little else; the code is for this processor. */
#define FLAGS \
    "-O1", "-march=native", "-std=gnu11", "-ffreestanding", "-fPIC", "-shared", "-nostdlib", "-w", \
        "-fvisibility=hidden", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", CHECKS

#define NICE 10
#define POLL_MS 100

extern char **environ;

/* The compiler that runs. */
static struct {
    pthread_mutex_t lock;
    pid_t pid; /* 0: none */
    bool stopped;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- finding --- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* NAME in a folder of PATH; as it is if it has a slash. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, size, "%s", name) < size && is_program(path);

    const char *folders = secure_getenv("PATH");
    while (folders != NULL && *folders != 0) {
        size_t length = strcspn(folders, ":");
        /* An empty or relative folder would be wherever the program is now. */
        if (*folders == '/' &&
            (size_t)snprintf(path, size, "%.*s/%s", (int)length, folders, name) < size &&
            is_program(path))
            return true;
        folders += length + (folders[length] == ':');
    }

    return false;
}

/* Splits COMMAND, whose first word becomes a path. */
static bool take_command(struct dpu_compiler *c, const char *command)
{
    char words[sizeof c->text / 2], *rest = words;
    if ((size_t)snprintf(words, sizeof words, "%s", command) >= sizeof words)
        return false;

    size_t used = 0;
    uint32_t count = 0;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;) {
        if (*word == 0)
            continue;
        if (count == DPU_COMPILER_WORDS - 1)
            return false;

        char *place = c->text + used;
        size_t room = sizeof c->text - used;
        if (count == 0 ? !find_program(word, place, room)
                       : (size_t)snprintf(place, room, "%s", word) >= room)
            return false;
        c->words[count++] = place;
        used += strlen(place) + 1;
    }

    c->words[count] = NULL;
    return count > 0;
}

/* What -march=native looks at. Asking is slow where a hypervisor answers. */
static char processor[400];
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;

static void describe_processor(void)
{
    const size_t size = sizeof processor;
    size_t used =
        (size_t)snprintf(processor, size, "%lx %lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
#if defined(__x86_64__)
    static const uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves && used < size; i++) {
        uint32_t a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
        /* Of leaf 1, ebx says on which core this runs, and bit 27 of ecx what the system set. */
        b = leaves[i][0] == 1 ? 0 : b;
        used += (size_t)snprintf(processor + used, size - used, " %x %x %x %x", a, b, c, d);
    }
#else
    (void)used;
#endif
}

static void make_stamp(struct dpu_compiler *c)
{
    static const char *const flags[] = {FLAGS};
    struct stat status = {0};
    pthread_once(&processor_once, describe_processor);
    stat(c->words[0], &status);
    size_t size = sizeof c->stamp;
    size_t used =
        (size_t)snprintf(c->stamp, size, "%lld %lld %lld.%09ld %s", (long long)status.st_ino,
                         (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec, processor);
    for (uint32_t i = 0; c->words[i] != NULL && used < size; i++)
        used += (size_t)snprintf(c->stamp + used, size - used, " %s", c->words[i]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && used < size; i++)
        used += (size_t)snprintf(c->stamp + used, size - used, " %s", flags[i]);
}

bool dpu_compiler_find(struct dpu_compiler *c)
{
    static const char *const candidates[] = {"gcc", "clang", "cc", "python3 -P -m ziglang cc"};
    if (getauxval(AT_SECURE) != 0)
        return false;

    const char *chosen = secure_getenv("DPU_SOFT_CC");
    bool found = chosen != NULL && take_command(c, chosen);
    for (size_t i = 0; chosen == NULL && !found && i < sizeof candidates / sizeof *candidates; i++)
        found = take_command(c, candidates[i]);
    if (found)
        make_stamp(c);
    c->nice = NICE;
    return found;
}

/* --- running --- */

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

/* Without signals that this thread blocks, as a group of its own, and with nothing to read or say.
 */
static int spawn(const char *const *words, pid_t *pid)
{
    char **environment = make_environment();
    if (environment == NULL)
        return ENOMEM;

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
    int error = posix_spawn(pid, words[0], &files, &attributes, (char *const *)words, environment);

    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(environment);
    return error;
}

static bool start(const char *const *words, int nice, pid_t *pid)
{
    pthread_mutex_lock(&running.lock);
    bool started = !running.stopped && spawn(words, pid) == 0;
    if (started) {
        running.pid = *pid;
        setpriority(PRIO_PROCESS, (id_t)*pid, nice);
    }

    pthread_mutex_unlock(&running.lock);
    return started;
}

static bool is_stopped(void)
{
    pthread_mutex_lock(&running.lock);
    bool stopped = running.stopped;
    pthread_mutex_unlock(&running.lock);
    return stopped;
}

/* Until the process ends, which is reaped later, or the deadline. */
static void wait_for(pid_t pid, int64_t deadline)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    while (clock_now() < deadline && !is_stopped()) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
            break;
        poll(&end, end.fd >= 0, end.fd >= 0 ? POLL_MS : 1);
    }

    if (end.fd >= 0)
        close(end.fd);
}

/* Kills what is left of the group, and takes the status. */
static bool finish(pid_t pid)
{
    pthread_mutex_lock(&running.lock);
    siginfo_t info = {0};
    /* Whoever waits for all children may have taken this one. */
    bool is_here = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (is_here && info.si_pid != pid)
        kill(-pid, SIGKILL);

    int status = 0;
    pid_t reaped = -1;
    while (is_here && (reaped = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        continue;

    running.pid = 0;
    pthread_mutex_unlock(&running.lock);
    return reaped == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool dpu_compiler_run(const struct dpu_compiler *c, const char *source, const char *result,
                      int64_t limit_ns)
{
    static const char *const flags[] = {FLAGS};
    const char *words[DPU_COMPILER_WORDS + sizeof flags / sizeof *flags + 4];
    uint32_t count = 0;
    for (; c->words[count] != NULL; count++)
        words[count] = c->words[count];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        words[count++] = flags[i];
    words[count++] = "-o";
    words[count++] = result;
    words[count++] = source;
    words[count] = NULL;

    pid_t pid;
    if (!start(words, c->nice, &pid))
        return false;
    wait_for(pid, clock_deadline(limit_ns));
    return finish(pid);
}

void dpu_compiler_stop(void)
{
    pthread_mutex_lock(&running.lock);
    running.stopped = true;
    if (running.pid != 0)
        kill(-running.pid, SIGKILL);
    pthread_mutex_unlock(&running.lock);
}

void dpu_compiler_forget(void)
{
    pthread_mutex_init(&running.lock, NULL);
    running.pid = 0;
}
