/* SPDX-License-Identifier: BSD-3-Clause */
/* debug_session.c: see debug_session.h. */
#include "dpu/lib/run/debug_session.h"

#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/fault.h"
#include "formats/dpu_elf.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum error { NONE = 0, WRONG = 1, BOUNDS = 2 };
enum { ZERO = 1, CARRY = 2, RUNNING = 4 };

/* Where data is in requests, and in answers. */
#define HEAD sizeof(struct dpulib_debug_request)
#define ANSWER sizeof(uint32_t)

/* Rounds that one request may run: the debugger asks again. */
#define ROUNDS_MAX (UINT64_C(1) << 22)

static size_t fail(uint8_t *message, enum error error)
{
    memcpy(message, &(uint32_t){error}, ANSWER);
    return ANSWER;
}

static size_t succeed(uint8_t *message, const void *data, size_t size)
{
    memcpy(message, &(uint32_t){NONE}, ANSWER);
    if (size != 0)
        memcpy(message + ANSWER, data, size);
    return ANSWER + size;
}

/* --- memories --- */

/* Words of IRAM are 8 bytes each, and read and written as a whole. */
static bool access_iram(struct dpu_machine *m, uint32_t offset, uint8_t *data, size_t size,
                        bool writes)
{
    uint64_t words[DPULIB_DEBUG_MESSAGE / sizeof(uint64_t)];
    if (offset % sizeof *words != 0 || size % sizeof *words != 0)
        return false;
    if (writes) {
        memcpy(words, data, size);
        return dpu_machine_write_iram(m, offset / 8, words, size / sizeof *words);
    }
    if (!dpu_machine_read_iram(m, offset / 8, words, size / sizeof *words))
        return false;
    memcpy(data, words, size);
    return true;
}

static bool access_memory(struct dpu_machine *m, uint32_t address, uint8_t *data, size_t size,
                          bool writes)
{
    if (address >= DPU_ELF_ATOMIC_BASE)
        return false;
    if (address >= DPU_ELF_IRAM_BASE)
        return access_iram(m, address - DPU_ELF_IRAM_BASE, data, size, writes);
    if (address >= DPU_ELF_MRAM_BASE) {
        uint32_t offset = address - DPU_ELF_MRAM_BASE;
        return writes ? dpu_machine_write_mram(m, offset, data, size)
                      : dpu_machine_read_mram(m, offset, data, size);
    }
    return writes ? dpu_machine_write_wram(m, address, data, size)
                  : dpu_machine_read_wram(m, address, data, size);
}

static size_t read_memory(struct dpu_t *dpu, uint8_t *message,
                          const struct dpulib_debug_request *request)
{
    if (request->b > DPULIB_DEBUG_MESSAGE - ANSWER)
        return fail(message, BOUNDS);
    if (!access_memory(dpu->machine, request->a, message + ANSWER, request->b, false))
        return fail(message, BOUNDS);
    return succeed(message, NULL, 0) + request->b;
}

static size_t read_image(struct dpu_t *dpu, uint8_t *message,
                         const struct dpulib_debug_request *request)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    size_t size = program != NULL ? program->elf.sections.image.size : 0;
    if (request->b > DPULIB_DEBUG_MESSAGE - ANSWER || request->a > size ||
        request->b > size - request->a)
        return fail(message, BOUNDS);
    return succeed(message, program != NULL ? program->image + request->a : NULL, request->b);
}

/* --- tasklets --- */

static size_t get_threads(struct dpu_t *dpu, uint8_t *message)
{
    struct dpulib_debug_thread threads[DPU_MACHINE_THREADS_ROOM] = {0};
    uint32_t count = dpu_machine_thread_count(dpu->machine);
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_thread_state state;
        if (!dpu_machine_get_thread(dpu->machine, i, &state))
            return fail(message, BOUNDS);
        memcpy(threads[i].registers, state.registers, sizeof state.registers);
        threads[i].pc = state.pc;
        threads[i].flags = (state.zero != 0 ? ZERO : 0u) | (state.carry != 0 ? CARRY : 0u) |
                           (state.running != 0 ? RUNNING : 0u);
    }
    return succeed(message, threads, count * sizeof *threads);
}

static size_t set_thread(struct dpu_t *dpu, uint8_t *message,
                         const struct dpulib_debug_request *request, size_t size)
{
    struct dpulib_debug_thread thread;
    if (size != sizeof thread)
        return fail(message, WRONG);
    memcpy(&thread, message + HEAD, sizeof thread);

    struct dpu_thread_state state = {
        .pc = thread.pc,
        .zero = (thread.flags & ZERO) != 0,
        .carry = (thread.flags & CARRY) != 0,
        .running = (thread.flags & RUNNING) != 0,
    };
    memcpy(state.registers, thread.registers, sizeof state.registers);
    if (!dpu_machine_set_thread(dpu->machine, request->a, &state))
        return fail(message, BOUNDS);
    return succeed(message, NULL, 0);
}

/* --- running --- */

static size_t set_watches(struct dpulib_debug *debug, uint8_t *message, size_t size)
{
    struct dpulib_watch watches[DPULIB_WATCHES];
    size_t count = size / sizeof *watches;
    if (size % sizeof *watches != 0 || count > DPULIB_WATCHES)
        return fail(message, WRONG);
    memcpy(watches, message + HEAD, size);
    memcpy(debug->watches, watches, size);
    debug->watch_count = (uint32_t)count;
    return succeed(message, NULL, 0);
}

static size_t tell_stop(struct dpu_t *dpu, struct dpulib_debug_session *session, uint8_t *message)
{
    const struct dpulib_debug *debug = &session->debug;
    struct dpulib_debug_stopped stopped = {
        .stop = debug->stop,
        .thread = debug->thread,
        .pc = debug->pc,
        .watch = debug->watch,
        .cycles = dpu->result.cycles,
    };
    memcpy(stopped.counts, dpu->result.thread_instructions, sizeof stopped.counts);
    /* dpulib_describe_fault() looks at it. */
    if (debug->stop == DPULIB_STOP_FAULT)
        dpu->status = DPUSOFT_FAULT;
    session->is_over = debug->stop == DPULIB_STOP_DONE || debug->stop == DPULIB_STOP_FAULT ||
                       debug->stop == DPULIB_STOP_LIMIT;
    return succeed(message, &stopped, sizeof stopped);
}

static size_t step(struct dpu_t *dpu, struct dpulib_debug_session *session, uint8_t *message,
                   const struct dpulib_debug_request *request)
{
    if (session->is_over || !dpulib_debug_step(dpu, &session->debug, request->a))
        return fail(message, WRONG);
    return tell_stop(dpu, session, message);
}

static size_t run(struct dpu_t *dpu, struct dpulib_debug_session *session, uint8_t *message,
                  const struct dpulib_debug_request *request)
{
    struct dpulib_debug_range range = {request->a, request->b, request->c};
    if (session->is_over || request->a >= dpu_machine_thread_count(dpu->machine))
        return fail(message, WRONG);
    uint64_t rounds = request->d < ROUNDS_MAX ? request->d : ROUNDS_MAX;
    dpulib_debug_run(dpu, &session->debug, rounds, range);
    return tell_stop(dpu, session, message);
}

size_t dpulib_debug_answer(struct dpu_t *dpu, struct dpulib_debug_session *session,
                           uint8_t *message, size_t size)
{
    struct dpulib_debug_request request;
    if (size < HEAD)
        return fail(message, WRONG);
    memcpy(&request, message, HEAD);
    size -= HEAD;

    switch (request.kind) {
    case DPULIB_DEBUG_READ: return read_memory(dpu, message, &request);
    case DPULIB_DEBUG_WRITE:
        if (!access_memory(dpu->machine, request.a, message + HEAD, size, true))
            return fail(message, BOUNDS);
        return succeed(message, NULL, 0);
    case DPULIB_DEBUG_THREADS: return get_threads(dpu, message);
    case DPULIB_DEBUG_SET_THREAD: return set_thread(dpu, message, &request, size);
    case DPULIB_DEBUG_BREAKPOINTS:
        if (size != sizeof session->debug.breakpoints)
            return fail(message, WRONG);
        memcpy(session->debug.breakpoints, message + HEAD, size);
        return succeed(message, NULL, 0);
    case DPULIB_DEBUG_WATCHES: return set_watches(&session->debug, message, size);
    case DPULIB_DEBUG_STEP: return step(dpu, session, message, &request);
    case DPULIB_DEBUG_RUN: return run(dpu, session, message, &request);
    case DPULIB_DEBUG_FAULT: {
        char text[DPULIB_EXPLANATION_MAX];
        dpulib_describe_fault(dpu, text, sizeof text);
        return succeed(message, text, strlen(text));
    }
    case DPULIB_DEBUG_IMAGE: return read_image(dpu, message, &request);
    case DPULIB_DEBUG_DETACH: return 0;
    default: return fail(message, WRONG);
    }
}

/* --- the socket --- */

static const char *socket_path(void)
{
    const char *path = dpulib_setting(DPULIB_DPU_DEBUG);
    return path != NULL && strlen(path) < sizeof((struct sockaddr_un *)NULL)->sun_path ? path
                                                                                       : NULL;
}

__attribute__((constructor)) static void check_socket_path(void)
{
    if (dpulib_setting(DPULIB_DPU_DEBUG) != NULL && socket_path() == NULL)
        dpulib_refuse_setting(DPULIB_DPU_DEBUG, "it is longer than the name of a socket can be");
}

/* -1 without a debugger. */
static int connect_to_debugger(void)
{
    static _Atomic bool told;
    const char *path = socket_path();
    if (path == NULL)
        return -1;

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;

    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!atomic_exchange(&told, true))
        dpulib_log(DPULIB_WARNING, "DPU_DEBUG: no debugger listens at %s: %s", path,
                   strerror(error));
    return -1;
}

static bool send_message(int fd, const void *data, size_t size)
{
    ssize_t sent;
    do
        sent = send(fd, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 && (size_t)sent == size;
}

/* 0: nobody is there any more. */
static size_t receive_message(int fd, uint8_t *message)
{
    ssize_t got;
    do
        got = recv(fd, message, DPULIB_DEBUG_MESSAGE, 0);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

static bool say_hello(int fd, const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    struct dpulib_debug_hello hello = {
        .magic = DPULIB_DEBUG_MAGIC,
        .version = DPULIB_DEBUG_VERSION,
        .process = (uint32_t)getpid(),
        .rank = dpu->rank->id,
        .slice = dpu->slice,
        .member = dpu->member,
        .threads = dpu_machine_thread_count(dpu->machine),
        .image = program != NULL ? (uint32_t)program->elf.sections.image.size : 0,
    };
    const char *path = dpu->program != NULL ? dpu->program->program_path : NULL;
    snprintf(hello.path, sizeof hello.path, "%s", path != NULL ? path : "");
    return send_message(fd, &hello, sizeof hello);
}

/* As any operation, requests wait for what works beside the launch. */
static size_t answer(struct dpu_t *dpu, struct dpulib_debug_session *session, uint8_t *message,
                     size_t size)
{
    pthread_mutex_lock(&dpu->turn);
    size = dpulib_debug_answer(dpu, session, message, size);
    pthread_mutex_unlock(&dpu->turn);
    return size;
}

bool dpulib_debug_launch(struct dpu_t *dpu, enum dpu_run_status *status)
{
    int fd = connect_to_debugger();
    if (fd < 0)
        return false;

    struct dpulib_debug_session *session = calloc(1, sizeof *session);
    uint8_t *message = malloc(DPULIB_DEBUG_MESSAGE);
    bool is_over = false;
    if (session != NULL && message != NULL && say_hello(fd, dpu)) {
        size_t size = receive_message(fd, message);
        while (size != 0) {
            size = answer(dpu, session, message, size);
            if (size == 0 || !send_message(fd, message, size))
                break;
            size = receive_message(fd, message);
        }
        is_over = session->is_over;
        *status = session->debug.status;
    }

    free(message);
    free(session);
    close(fd);
    return is_over;
}
