/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPUs that a server runs, which is a thread of this process: they are as others are. Servers that
 * are lost, or are none.
 *
 * build: @libdpu tsan
 */
#include "echo_program.h"

#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/message.h"
#include "dpu/lib/remote/remote.h"
#include "dpu_management.h"
#include "dpu_memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REMOTE "softServers=only,softThreads=2"
#define LOCAL "softServers=none,softThreads=2"

/* It accepts one connection. */
struct server {
    int listener;
    _Atomic int fd;
    pthread_t thread;
    dpu_error_t result;
};

static void *serve(void *argument)
{
    struct server *server = argument;
    server->fd = accept(server->listener, NULL, NULL);
    CHECK(server->fd >= 0);
    server->result = dpusoft_serve(server->fd, 2);
    return NULL;
}

static struct server listen_for_one(void)
{
    struct server server = {.fd = -1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("DPU_SOFT_SERVERS");
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path);
    server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(server.listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(server.listener, 4) == 0);
    return server;
}

#define START(function) \
    struct server server = listen_for_one(); \
    CHECK(pthread_create(&server.thread, NULL, function, &server) == 0)

static void stop(struct server *server)
{
    CHECK(pthread_join(server->thread, NULL) == 0);
    close(server->fd);
    close(server->listener);
    unlink(getenv("DPU_SOFT_SERVERS"));
}

static struct dpu_t *dpu_at(struct dpu_set_t set, uint32_t index)
{
    return dpu_from_set(echo_dpu(set, index));
}

/* --- as others --- */

/* Copies 2048 bytes in MRAM by way of WRAM, from the number at ACTIVE in kilobytes to 1 MiB beyond,
 * counts its launches at STATE, and leaves a number in a register. With 0 at WORDS it spins first,
 * and with 2 there it faults. */
static const uint64_t *copier(size_t *count)
{
    static uint64_t words[16];
    const uint64_t program[] = {
        LOAD_WORD(0, ZERO, WORDS),
        JUMP_IF(0, 0, CC_Z, 0),
        JUMP_IF(0, 2, CC_NZ, 4),
        W("fault", "i", 77),
        LOAD_WORD(1, ZERO, ACTIVE),
        W("lsl", "rri", 1, 1, 10),
        MOVE(2, 4096),
        W("ldma", "rri", 2, 1, 255),
        W("add", "rri", 1, 1, 1 << 20),
        W("sdma", "rri", 2, 1, 255),
        LOAD_WORD(3, ZERO, STATE),
        W("add", "rri", 3, 3, 1),
        STORE_WORD(ZERO, STATE, 3),
        W("add", "rrr", 4, 4, 3),
        STOP,
    };
    memcpy(words, program, sizeof program);
    *count = sizeof program / sizeof *program;
    return words;
}

static struct dpu_set_t copier_set(uint32_t dpus, const char *profile)
{
    struct dpu_set_t set = echo_set(dpus, profile);
    size_t count;
    const uint64_t *words = copier(&count);
    for (uint32_t i = 0; i < dpus; i++)
        OK(dpu_copy_to_iram_for_dpu(dpu_at(set, i), 0, words, (iram_size_t)count));
    return set;
}

static void put(struct dpu_set_t set, uint32_t address, uint32_t value)
{
    const struct dpu_symbol_t symbol = {address, 4};
    OK(dpu_broadcast_to_symbol(set, symbol, 0, &value, 4, DPU_XFER_DEFAULT));
}

/* Everything of two DPUs is equal. */
static void compare(struct dpu_set_t a, struct dpu_set_t b, uint32_t count)
{
    static uint8_t one[4 << 20], other[4 << 20];
    for (uint32_t i = 0; i < count; i++) {
        struct dpusoft_report left = {.size = sizeof left}, right = {.size = sizeof right};
        OK(dpusoft_get_report(echo_dpu(a, i), &left));
        OK(dpusoft_get_report(echo_dpu(b, i), &right));
        CHECK(memcmp(&left, &right, sizeof left) == 0);

        struct dpu_machine *m = dpu_at(a, i)->machine, *n = dpu_at(b, i)->machine;
        CHECK(dpu_machine_read_mram(m, 0, one, sizeof one) &&
              dpu_machine_read_mram(n, 0, other, sizeof other));
        CHECK(memcmp(one, other, sizeof one) == 0);
        CHECK(dpu_machine_read_wram(m, 0, one, DPU_MACHINE_WRAM) &&
              dpu_machine_read_wram(n, 0, other, DPU_MACHINE_WRAM));
        CHECK(memcmp(one, other, DPU_MACHINE_WRAM) == 0);
        CHECK(dpu_machine_read_iram(m, 0, (uint64_t *)one, 4096) &&
              dpu_machine_read_iram(n, 0, (uint64_t *)other, 4096));
        CHECK(memcmp(one, other, 8 * 4096) == 0);
        for (uint32_t t = 0; t < DPU_MACHINE_THREADS; t++) {
            struct dpu_thread_state s, u;
            CHECK(dpu_machine_get_thread(m, t, &s) && dpu_machine_get_thread(n, t, &u));
            CHECK(memcmp(&s, &u, sizeof s) == 0);
        }
    }
}

static void fill(struct dpu_set_t set, uint32_t offset, uint32_t size, unsigned seed)
{
    static uint8_t bytes[1 << 20];
    struct dpu_set_t dpu;
    DPU_FOREACH(set, dpu)
    {
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(rand_r(&seed) >> 8);
        OK(dpu_copy_to(dpu, "buffer", offset, bytes, size));
    }
}

static void test_memories_and_states_are_equal(void)
{
    START(serve);
    const uint32_t count = 5;
    struct dpu_set_t sets[2] = {copier_set(count, REMOTE), copier_set(count, LOCAL)};
    CHECK(dpu_at(sets[0], 0)->remote != NULL && dpu_at(sets[1], 0)->remote == NULL);
    unsigned seed = 1;
    for (int launch = 0; launch < 12; launch++) {
        uint32_t size = 8 + 8 * ((uint32_t)rand_r(&seed) % (launch % 3 == 0 ? 131000 : 700));
        uint32_t offset = 8 * ((uint32_t)rand_r(&seed) % ((BUFFER_SIZE - size) / 8));
        unsigned bytes = (unsigned)rand_r(&seed);
        for (int i = 0; i < 2; i++) {
            fill(sets[i], offset, size, bytes);
            put(sets[i], ACTIVE, bytes % 1000);
            put(sets[i], WORDS, 1);
            OK(dpu_launch(sets[i], launch % 2 == 0 ? DPU_SYNCHRONOUS : DPU_ASYNCHRONOUS));
            OK(dpu_sync(sets[i]));
        }
        if (launch % 4 != 1)
            compare(sets[0], sets[1], count);
    }

    OK(dpu_free(sets[0]));
    OK(dpu_free(sets[1]));
    stop(&server);
    CHECK(server.result == DPU_OK);
}

static void test_broadcasts_are_equal(void)
{
    START(serve);
    static uint8_t bytes[1 << 20];
    const uint32_t count = 6;
    struct dpu_set_t sets[2] = {copier_set(count, REMOTE), copier_set(count, LOCAL)};
    unsigned seed = 7;
    for (int round = 0; round < 6; round++) {
        for (uint32_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(rand_r(&seed) >> 8);
        for (int i = 0; i < 2; i++) {
            OK(dpu_broadcast_to(sets[i], "buffer", 0, bytes, sizeof bytes, DPU_XFER_DEFAULT));
            /* One of them has other pages, or has changed them, before the next broadcast. */
            if (round % 2 == 0)
                OK(dpu_copy_to(echo_dpu(sets[i], (uint32_t)round), "buffer", 8192, bytes, 512));
            put(sets[i], ACTIVE, 16);
            put(sets[i], WORDS, 1);
            OK(dpu_launch(round % 3 == 0 ? echo_dpu(sets[i], 0) : sets[i], DPU_SYNCHRONOUS));
            OK(dpu_broadcast_to(sets[i], "buffer", 0, bytes, sizeof bytes, DPU_XFER_DEFAULT));
        }
        compare(sets[0], sets[1], count);
    }

    OK(dpu_free(sets[0]));
    OK(dpu_free(sets[1]));
    stop(&server);
    CHECK(server.result == DPU_OK);
}

static void test_faults_are_equal(void)
{
    START(serve);
    struct dpu_set_t sets[2] = {copier_set(2, REMOTE), copier_set(2, LOCAL)};
    char texts[2][400];
    for (int i = 0; i < 2; i++) {
        put(sets[i], WORDS, 2);
        CHECK_RESULT(dpu_launch(sets[i], DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
        OK(dpusoft_describe_fault(echo_dpu(sets[i], 1), texts[i], sizeof texts[i]));
        CHECK(strstr(texts[i], "fault instruction with number 77") != NULL);
    }
    CHECK(strcmp(strchr(texts[0], ':'), strchr(texts[1], ':')) == 0);
    compare(sets[0], sets[1], 2);
    OK(dpu_free(sets[0]));
    OK(dpu_free(sets[1]));
    stop(&server);
}

static bool is_away(struct dpu_t *dpu)
{
    pthread_mutex_lock(&dpu->turn);
    bool away = dpulib_remote_is_away(dpu);
    pthread_mutex_unlock(&dpu->turn);
    return away;
}

static void wait_until_away(struct dpu_set_t set, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        while (!is_away(dpu_at(set, i)))
            sched_yield();
}

static void test_a_launch_that_is_disturbed_goes_on_here(void)
{
    START(serve);
    struct dpu_set_t set = copier_set(3, REMOTE);
    put(set, WORDS, 0);
    put(set, ACTIVE, 3);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    wait_until_away(set, 3);
    uint32_t one = 1;
    const struct dpu_symbol_t words = {WORDS, 4};
    OK(dpu_broadcast_to_symbol(set, words, 0, &one, 4, DPU_XFER_PARALLEL));
    OK(dpu_sync(set));
    CHECK(dpu_at(set, 1)->recalled);
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    uint32_t launches;
    CHECK(dpu_machine_read_wram(dpu_at(set, 2)->machine, STATE, &launches, 4) && launches == 2);
    OK(dpu_free(set));
    stop(&server);
}

static void test_a_launch_is_interrupted(void)
{
    START(serve);
    struct dpu_set_t set = copier_set(3, REMOTE);
    put(set, WORDS, 0);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    wait_until_away(set, 3);
    OK(dpusoft_interrupt(set));
    CHECK_RESULT(dpu_sync(set), DPU_ERR_TIMEOUT);
    OK(dpu_free(set));
    stop(&server);
}

static void test_ranks_are_dealt_out(void)
{
    START(serve);
    struct dpu_set_t set = copier_set(24, "softServers=share,nrDpusPerCi=1");
    CHECK(dpu_at(set, 7)->remote == NULL && dpu_at(set, 8)->remote != NULL &&
          dpu_at(set, 16)->remote == NULL);
    put(set, WORDS, 1);
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    struct dpu_set_t second = copier_set(24, "softServers=share,nrDpusPerCi=1");
    OK(dpu_free(set));
    CHECK(dpu_at(second, 0)->remote != NULL);
    put(second, WORDS, 1);
    OK(dpu_launch(second, DPU_SYNCHRONOUS));
    OK(dpu_free(second));
    stop(&server);
}

/* --- lost --- */

static void lose_connection(struct server *server)
{
    CHECK(shutdown(server->fd, SHUT_RDWR) == 0);
}

static void test_a_server_that_ends_is_an_error(void)
{
    START(serve);
    struct dpu_set_t set = copier_set(3, REMOTE);
    put(set, WORDS, 0);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    wait_until_away(set, 3);
    lose_connection(&server);
    CHECK_RESULT(dpu_sync(set), DPU_ERR_SYSTEM);
    CHECK(strstr(dpusoft_last_error_detail(), "is lost: it has ended") != NULL);
    uint32_t word = 0;
    struct dpu_set_t dpu = echo_dpu(set, 0);
    CHECK_RESULT(dpu_copy_to(dpu, "active", 0, &word, 4), DPU_ERR_SYSTEM);
    CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_SYSTEM);
    struct dpu_set_t another;
    CHECK_RESULT(dpu_alloc(1, REMOTE, &another), DPU_ERR_ALLOCATION);
    OK(dpu_free(set));
    stop(&server);
}

static void test_no_server_is_an_error(void)
{
    struct dpu_set_t set;
    CHECK_RESULT(dpu_alloc(1, REMOTE, &set), DPU_ERR_ALLOCATION);
    CHECK(strstr(dpusoft_last_error_detail(), "cannot be reached") != NULL);
    OK(dpu_alloc(1, LOCAL, &set));
    OK(dpu_free(set));
}

/* A server that greets as one should, and then says this. */
struct saying {
    struct dpulib_message message;
    const void *data;
    size_t size;
};
static struct saying saying;
static const char *greeting;

static void *pretend(void *argument)
{
    struct server *server = argument;
    char text[DPULIB_TEXT_MAX];
    struct dpulib_message hello;
    server->fd = accept(server->listener, NULL, NULL);
    CHECK(server->fd >= 0);
    CHECK(dpulib_receive(server->fd, &hello, sizeof hello, -1) == 0);
    CHECK(dpulib_receive(server->fd, text, sizeof text, -1) == 0);
    if (greeting != NULL)
        snprintf(text, sizeof text, "%s", greeting);
    CHECK(dpulib_send(server->fd, &hello, text, sizeof text, -1) == 0);

    /* Until the other side has launched, or gives up. */
    struct dpulib_message message = {.kind = 0};
    uint8_t byte;
    do {
        if (dpulib_receive(server->fd, &message, sizeof message, -1) != 0)
            return NULL;
        size_t size = message.kind == DPULIB_CREATE   ? sizeof(struct dpu_machine_options)
                      : message.kind == DPULIB_PAGES  ? (size_t)message.count * DPU_REMOTE_PAGE
                      : message.kind == DPULIB_LAUNCH ? dpu_packed_size(DPU_MACHINE_THREADS)
                                                      : 0;
        for (size_t i = 0; i < size; i++)
            CHECK(dpulib_receive(server->fd, &byte, 1, -1) == 0);
    } while (message.kind != DPULIB_LAUNCH);
    if (saying.message.kind != 0)
        (void)dpulib_send(server->fd, &saying.message, saying.data, saying.size, -1);
    while (dpulib_receive(server->fd, &byte, 1, -1) == 0)
        continue;
    return NULL;
}

static void expect_lost(struct saying said, const char *why)
{
    saying = said;
    START(pretend);
    struct dpu_set_t set = copier_set(1, REMOTE);
    CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_SYSTEM);
    CHECK(strstr(dpusoft_last_error_detail(), why) != NULL);
    OK(dpu_free(set));
    stop(&server);
}

static void test_what_makes_no_sense_is_an_error(void)
{
    static const char text[DPULIB_TEXT_MAX] = "out of\x1bpaper";
    static struct dpu_packed packed;
    static uint8_t page[DPU_REMOTE_PAGE];
    const size_t size = dpu_packed_size(DPU_MACHINE_THREADS);
    const char no_sense[] = "it sent what no server sends";
    expect_lost((struct saying){{DPULIB_TROUBLE, 0, 0, 0}, text, sizeof text}, "out of?paper");
    expect_lost((struct saying){{99, 0, 0, 0}, NULL, 0}, no_sense);
    expect_lost((struct saying){{DPULIB_ENDED, 1, 0, 0}, &packed, size}, no_sense);
    expect_lost((struct saying){{DPULIB_ENDED, 0, 0, 0}, &packed, size}, no_sense);
    /* A time that no machine reaches: what goes on from there would not end. */
    static const struct dpu_packed late = {
        .cycles = UINT64_MAX / 2, .threads = DPU_MACHINE_THREADS, .counter_mode = 3};
    expect_lost((struct saying){{DPULIB_ENDED, 0, 0, 0}, &late, size}, no_sense);
    expect_lost((struct saying){{DPULIB_CHANGED, 0, UINT32_MAX, 2}, NULL, 0}, no_sense);
    expect_lost((struct saying){{DPULIB_CHANGED, 0, 0, 1 << 20}, NULL, 0}, no_sense);
    expect_lost((struct saying){{DPULIB_CHANGED, 0, 3, 0}, NULL, 0}, no_sense);
    /* Nobody has asked for it. */
    expect_lost((struct saying){{DPULIB_PAGES, 0, 0, 1}, page, sizeof page}, no_sense);
    expect_lost((struct saying){{DPULIB_READ, 0, 0, 1}, NULL, 0}, no_sense);
    expect_lost((struct saying){{DPULIB_CREATE, 0, 0, 0}, NULL, 0}, no_sense);
}

static void test_a_server_that_is_silent_is_lost(void)
{
    expect_lost((struct saying){{0, 0, 0, 0}, NULL, 0}, "it said nothing for too long");
}

static void test_another_version_is_refused(void)
{
    struct dpu_set_t set;
    greeting = "offchip 0.0.0, of another kind";
    START(pretend);
    CHECK_RESULT(dpu_alloc(1, REMOTE, &set), DPU_ERR_ALLOCATION);
    CHECK(strstr(dpusoft_last_error_detail(), "offchip 0.0.0, of another kind") != NULL);
    CHECK(strstr(dpusoft_last_error_detail(), "install the same version on all hosts") != NULL);
    stop(&server);
    greeting = NULL;
}

/* --- a client that makes no sense --- */

static void expect_refused(const struct dpulib_message *messages, uint32_t count, const void *data,
                           size_t size)
{
    int pair[2];
    char text[DPULIB_TEXT_MAX];
    struct dpulib_message hello = {.kind = DPULIB_HELLO};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    dpulib_hello(text);
    CHECK(dpulib_send(pair[0], &hello, text, sizeof text, -1) == 0);
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_machine_options options;
        dpu_machine_default_options(&options);
        bool creates = messages[i].kind == DPULIB_CREATE && i + 1 < count;
        CHECK(dpulib_send(pair[0], &messages[i], creates ? &options : data,
                          creates          ? sizeof options
                          : i + 1 == count ? size
                                           : 0,
                          -1) == 0);
    }
    CHECK(shutdown(pair[0], SHUT_WR) == 0);
    CHECK(dpusoft_serve(pair[1], 1) == DPU_ERR_SYSTEM);
    CHECK(strstr(dpusoft_last_error_detail(), "the server gave up") != NULL);
    close(pair[0]);
    close(pair[1]);
}

static void test_a_client_that_makes_no_sense_is_refused(void)
{
    static struct dpu_packed packed;
    struct dpu_machine_options options;
    const uint32_t itself = 3;
    memset(&options, 0xFF, sizeof options);
    const size_t size = dpu_packed_size(DPU_MACHINE_THREADS);
#define REFUSED(data, size, ...) \
    do { \
        const struct dpulib_message messages_[] = {__VA_ARGS__}; \
        expect_refused(messages_, sizeof messages_ / sizeof *messages_, data, size); \
    } while (0)
    REFUSED(NULL, 0, {99, 0, 0, 0});
    REFUSED(NULL, 0, {DPULIB_FREE, 0, 0, 0});
    REFUSED(NULL, 0, {DPULIB_READ, 7, 0, 1});
    REFUSED(NULL, 0, {DPULIB_CREATE, UINT32_MAX, 0, 0});
    REFUSED(&options, sizeof options, {DPULIB_CREATE, 0, 0, 0});
    REFUSED(NULL, 0, {DPULIB_CREATE, 3, 0, 0}, {DPULIB_PAGES, 3, UINT32_MAX, 1});
    REFUSED(NULL, 0, {DPULIB_CREATE, 3, 0, 0}, {DPULIB_ZEROS, 3, 1, UINT32_MAX});
    REFUSED(NULL, 0, {DPULIB_CREATE, 3, 0, 0}, {DPULIB_ENDED, 3, 0, 0});
    REFUSED(&itself, sizeof itself, {DPULIB_CREATE, 3, 0, 0}, {DPULIB_SAME, 3, 100, 1});
    REFUSED(&itself, sizeof itself, {DPULIB_CREATE, 4, 0, 0}, {DPULIB_SAME, 4, 100, 1});
    REFUSED(&itself, sizeof itself, {DPULIB_CREATE, 4, 0, 0}, {DPULIB_SAME, 4, 0, 1});
    REFUSED(&packed, size, {DPULIB_CREATE, 3, 0, 0}, {DPULIB_LAUNCH, 3, 0, 0});
}

int main(int argc, char **argv)
{
    (void)argc;
    char folder[] = "/tmp/dpu-servers-XXXXXX", path[64];
    /* The library reads its variables when it is loaded. */
    if (getenv("DPU_SOFT_SERVERS") == NULL) {
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/socket", folder);
        setenv("DPU_SOFT_SERVERS", path, 1);
        setenv("DPU_SOFT_SERVER_SECONDS", "2", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }

    test_memories_and_states_are_equal();
    test_broadcasts_are_equal();
    test_faults_are_equal();
    test_a_launch_that_is_disturbed_goes_on_here();
    test_a_launch_is_interrupted();
    test_ranks_are_dealt_out();
    test_a_server_that_ends_is_an_error();
    test_no_server_is_an_error();
    test_what_makes_no_sense_is_an_error();
    test_a_server_that_is_silent_is_lost();
    test_another_version_is_refused();
    test_a_client_that_makes_no_sense_is_refused();
    snprintf(path, sizeof path, "%s", getenv("DPU_SOFT_SERVERS"));
    *strrchr(path, '/') = 0;
    rmdir(path);
    return 0;
}
