/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launch that a debugger has: it waits, answers requests, and goes on when it is let go.
 *
 * build: @libdpu tsan
 */
#include "echo_program.h"

#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/debug_session.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct debugger {
    int listener, fd;
    char path[64], folder[32];
};

struct launching {
    struct dpu_set_t set;
    pthread_t thread;
    dpu_error_t error;
};

static struct debugger start_debugger(void)
{
    struct debugger d = {.fd = -1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(d.folder, sizeof d.folder, "/tmp/dpu-debug-XXXXXX");
    CHECK(mkdtemp(d.folder) != NULL);
    snprintf(d.path, sizeof d.path, "%s/socket", d.folder);
    memcpy(address.sun_path, d.path, strlen(d.path) + 1);
    d.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(d.listener >= 0);
    CHECK(bind(d.listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(d.listener, 4) == 0);
    CHECK(setenv("DPU_DEBUG", d.path, 1) == 0);
    return d;
}

static void stop_debugger(struct debugger *d)
{
    close(d->listener);
    unlink(d->path);
    rmdir(d->folder);
    unsetenv("DPU_DEBUG");
}

static void *launch(void *argument)
{
    struct launching *l = argument;
    l->error = dpu_launch(l->set, DPU_SYNCHRONOUS);
    return NULL;
}

/* Starts a launch, and takes the hello of its DPU. */
static struct launching begin(struct debugger *d, struct dpu_set_t set, struct launching *l)
{
    struct dpulib_debug_hello hello;
    l->set = set;
    CHECK(pthread_create(&l->thread, NULL, launch, l) == 0);
    d->fd = accept(d->listener, NULL, NULL);
    CHECK(d->fd >= 0);
    CHECK(recv(d->fd, &hello, sizeof hello, 0) == sizeof hello);
    CHECK(hello.magic == DPULIB_DEBUG_MAGIC && hello.version == DPULIB_DEBUG_VERSION);
    CHECK(hello.process == (uint32_t)getpid());
    CHECK(hello.threads == DPU_MACHINE_THREADS);
    return *l;
}

static void end(struct debugger *d, struct launching *l, dpu_error_t expected)
{
    close(d->fd);
    CHECK(pthread_join(l->thread, NULL) == 0);
    CHECK(l->error == expected);
}

/* Sends a request with data; returns the error of its answer, whose data is put into OUT. */
static uint32_t ask(struct debugger *d, struct dpulib_debug_request request, const void *data,
                    size_t size, void *out, size_t room)
{
    uint8_t message[DPULIB_DEBUG_MESSAGE];
    memcpy(message, &request, sizeof request);
    if (size != 0)
        memcpy(message + sizeof request, data, size);
    CHECK(send(d->fd, message, sizeof request + size, 0) == (ssize_t)(sizeof request + size));
    ssize_t got = recv(d->fd, message, sizeof message, 0);
    CHECK(got >= 4);
    uint32_t error;
    memcpy(&error, message, 4);
    if (error == 0 && room != 0) {
        CHECK((size_t)got == 4 + room);
        memcpy(out, message + 4, room);
    }
    return error;
}

/* The kind, and as many numbers as it has. */
#define REQUEST_OF(kind, a, b, c, d, ...) ((struct dpulib_debug_request){kind, a, b, c, d})
#define REQUEST(...) REQUEST_OF(__VA_ARGS__, 0, 0, 0, 0, 0)

static struct dpulib_debug_stopped run(struct debugger *d, uint64_t rounds)
{
    struct dpulib_debug_stopped stopped;
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_RUN, 0, 0, 0, rounds), NULL, 0, &stopped, sizeof stopped) ==
          0);
    return stopped;
}

static void test_memory_is_read_and_written(struct debugger *d, struct dpu_set_t set)
{
    struct launching l;
    uint32_t word = 7, got = 0;
    uint64_t code = 0;
    begin(d, set, &l);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WRITE, ACTIVE), &word, 4, NULL, 0) == 0);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, ACTIVE, 4), NULL, 0, &got, 4) == 0);
    CHECK(got == 7);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WRITE, 0x08000100), &word, 4, NULL, 0) == 0);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, 0x08000100, 4), NULL, 0, &got, 4) == 0);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, 0x80000000, 8), NULL, 0, &code, 8) == 0);
    CHECK(code == LOAD_WORD(0, ZERO, ACTIVE));

    char magic[4];
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_IMAGE, 0, 4), NULL, 0, magic, 4) == 0);
    CHECK(memcmp(magic,
                 "\x7f"
                 "ELF",
                 4) == 0);
    word = 0;
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WRITE, ACTIVE), &word, 4, NULL, 0) == 0);
    end(d, &l, DPU_OK);
}

static void test_wrong_requests_are_refused(struct debugger *d, struct dpu_set_t set)
{
    struct launching l;
    uint8_t data[600] = {0};
    begin(d, set, &l);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, 1 << 16, 4), NULL, 0, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, 0, 1 << 15), NULL, 0, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, UINT32_MAX, 4), NULL, 0, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, 0x80000004, 8), NULL, 0, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WRITE, 65530), data, 16, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_IMAGE, UINT32_MAX, 4), NULL, 0, NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_SET_THREAD, 0), data, 3, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_SET_THREAD, 24), data, sizeof(struct dpulib_debug_thread),
              NULL, 0) == 2);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_BREAKPOINTS), data, 511, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WATCHES), data, 17 * sizeof(struct dpulib_watch), NULL, 0) ==
          1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_STEP, 3), NULL, 0, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_STEP, UINT32_MAX), NULL, 0, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_RUN, 24, 0, 0, 1), NULL, 0, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(99), NULL, 0, NULL, 0) == 1);
    CHECK(send(d->fd, data, 5, 0) == 5);
    CHECK(recv(d->fd, data, sizeof data, 0) == 4 && data[0] == 1);
    end(d, &l, DPU_OK);
}

static void test_breakpoints_and_steps(struct debugger *d, struct dpu_set_t set)
{
    struct launching l;
    uint64_t breakpoints[DPU_MACHINE_IRAM / 64] = {UINT64_C(1) << 24};
    struct dpulib_debug_thread threads[DPU_MACHINE_THREADS];
    struct dpulib_debug_stopped stopped;
    begin(d, set, &l);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_STEP, 0), NULL, 0, &stopped, sizeof stopped) == 0);
    CHECK(stopped.stop == DPULIB_STOP_ROUNDS && stopped.counts[0] == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_BREAKPOINTS), breakpoints, sizeof breakpoints, NULL, 0) == 0);
    stopped = run(d, 100);
    CHECK(stopped.stop == DPULIB_STOP_BREAKPOINT && stopped.thread == 0);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_THREADS), NULL, 0, threads, sizeof threads) == 0);
    CHECK(threads[0].pc == 24 && (threads[0].flags & 4) != 0);
    stopped = run(d, 100);
    CHECK(stopped.stop == DPULIB_STOP_DONE);
    /* It is over, but its memory is still there. */
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_STEP, 0), NULL, 0, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_RUN, 0, 0, 0, 1), NULL, 0, NULL, 0) == 1);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_READ, ACTIVE, 4), NULL, 0, &stopped, 4) == 0);
    end(d, &l, DPU_OK);
}

static void test_watchpoints(struct debugger *d, struct dpu_set_t set)
{
    struct launching l;
    struct dpulib_watch watch = {ACTIVE, 4, DPULIB_WATCH_READ};
    begin(d, set, &l);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WATCHES), &watch, sizeof watch, NULL, 0) == 0);
    struct dpulib_debug_stopped stopped = run(d, 100);
    CHECK(stopped.stop == DPULIB_STOP_WATCHPOINT && stopped.watch == 0 && stopped.pc == 0);
    watch.kind = DPULIB_WATCH_WRITE;
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_WATCHES), &watch, sizeof watch, NULL, 0) == 0);
    CHECK(run(d, 100).stop == DPULIB_STOP_DONE);
    end(d, &l, DPU_OK);
}

static void test_a_range_is_left(struct debugger *d, struct dpu_set_t set)
{
    struct launching l;
    struct dpulib_debug_stopped stopped;
    begin(d, set, &l);
    CHECK(ask(d, REQUEST(DPULIB_DEBUG_RUN, 0, 0, 2, 100), NULL, 0, &stopped, sizeof stopped) == 0);
    CHECK(stopped.stop == DPULIB_STOP_LEFT && stopped.thread == 0);
    end(d, &l, DPU_OK);
}

static void test_launches_without_a_debugger(struct dpu_set_t set)
{
    char path[200];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    setenv("DPU_DEBUG", "/nowhere/socket", 1);
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    setenv("DPU_DEBUG", path, 1);
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    unsetenv("DPU_DEBUG");
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
}

int main(void)
{
    struct dpu_set_t set = echo_set(1, NULL);
    uint32_t inactive = 0;
    OK(dpu_broadcast_to(set, "active", 0, &inactive, 4, DPU_XFER_DEFAULT));
    struct debugger d = start_debugger();

    test_memory_is_read_and_written(&d, set);
    test_wrong_requests_are_refused(&d, set);
    test_breakpoints_and_steps(&d, set);
    test_watchpoints(&d, set);
    test_a_range_is_left(&d, set);
    stop_debugger(&d);

    test_launches_without_a_debugger(set);
    OK(dpu_free(set));
    return 0;
}
