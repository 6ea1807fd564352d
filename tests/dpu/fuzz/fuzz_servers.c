/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu
 *
 * Fuzz target: what a server is sent, and what one sends. The first byte of an input chooses; the
 * rest is a stream of messages about DPU 0, which exists. Whatever it is, the receiver ends, and a
 * machine that got a state can run.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "dpu/lib/remote/message.h"
#include "dpu/lib/remote/server.h"
#include "dpusoft.h"

#define MOST 60000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        dprintf(STDERR_FILENO, "contract broken: %s\n", what);
        abort();
    }
}

static void send_bytes(int fd, const void *data, size_t size)
{
    require(dpulib_send(fd, NULL, data, size, -1) == 0, "room in the socket");
}

static struct dpu_machine_options small_options(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.mram_mib = 1;
    options.max_cycles = 20000;
    return options;
}

static void to_server(const uint8_t *data, size_t size, const int pair[2])
{
    const struct dpulib_message create = {.kind = DPULIB_CREATE};
    const struct dpu_machine_options options = small_options();
    struct dpulib_message hello = {.kind = DPULIB_HELLO};
    char text[DPULIB_TEXT_MAX];
    dpulib_hello(text);
    require(dpulib_send(pair[0], &hello, text, sizeof text, -1) == 0 &&
                dpulib_send(pair[0], &create, &options, sizeof options, -1) == 0,
            "room in the socket");
    send_bytes(pair[0], data, size);
    shutdown(pair[0], SHUT_WR);
    (void)dpusoft_serve(pair[1], 1);
}

static void bring_nothing(struct dpu_remote_copy *copy, uint32_t first, uint32_t count)
{
    dpu_remote_mark(copy->stale, first, count, false);
}

static void from_server(const uint8_t *data, size_t size, const int pair[2])
{
    const struct dpu_machine_options options = small_options();
    struct dpulib_remote remote = {.away = true, .brings = true, .first = 5, .pages = 40};
    struct dpulib_remote *dpus[] = {&remote};
    struct dpulib_server server = {.path = "fuzz",
                                   .fd = pair[1],
                                   .dpus = dpus,
                                   .room = 1,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .heard = PTHREAD_COND_INITIALIZER};
    struct dpu_machine *machine = dpu_machine_create(&options);
    require(machine != NULL && dpu_remote_begin(&remote.copy, machine, bring_nothing), "a machine");
    send_bytes(pair[0], data, size);
    shutdown(pair[0], SHUT_WR);

    dpulib_server_wait(&server, &remote.away, CLOCK_NEVER);
    require(!remote.away, "an end");
    for (int i = 0; i < 4; i++)
        (void)dpu_machine_slice(machine, 500, NULL);
    dpu_remote_end(&remote.copy);
    dpu_machine_destroy(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pair[2];
    if (size == 0 || size > MOST)
        return 0;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "a socket");
    if (data[0] % 2 == 0)
        to_server(data + 1, size - 1, pair);
    else
        from_server(data + 1, size - 1, pair);
    close(pair[0]);
    close(pair[1]);
    return 0;
}
