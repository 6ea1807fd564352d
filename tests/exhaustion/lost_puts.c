/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaccl: a stream put that comes while the receiver has no memory is lost, and its reader is told
 * so at its place; its sender too if it is still there. Nothing waits behind it. Two ranks of one
 * process; by packets with ACCL_TRANSPORT=packets.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, \
                    accl_error_message()); \
            exit(1); \
        } \
    } while (0)

/* Large: more than all rx buffers hold. */
enum { RANKS = 2, SMALL = 100, LARGE = 20000, PUTS = 3, NBUFS = 64, STREAM = 9, TAG = 5 };

void *__libc_malloc(size_t size);
static _Thread_local bool fails;
static _Thread_local int left; /* allocations before the first that fails */

void *malloc(size_t size)
{
    return fails && left-- <= 0 ? NULL : __libc_malloc(size);
}

static accl_device *devices[RANKS];
static accl_buffer *buffers[RANKS];
static bool packets;

static void set_up(uint32_t number, const char *job)
{
    struct accl_config config = {
        .size = sizeof config, .job = job, .memory_mode = ACCL_MEMORY_UNIFIED};
    struct accl_rank ranks[RANKS] = {{0}};
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (struct accl_rank){
            .ip = 0x7F000001, .port = 9000 + i, .session = i, .max_segment_size = 1024};
    uint32_t id;
    CHECK(accl_open(&config, &devices[number]) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(devices[number], NBUFS, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(devices[number], ranks, RANKS, number, &id) == ACCL_OK);
    CHECK(accl_buffer_create(devices[number], LARGE * sizeof(int32_t), 0, ACCL_BUFFER_ZERO,
                             &buffers[number]) == ACCL_OK);
}

/* Carries the packets of each rank to the other. */
static void carry(void)
{
    for (uint32_t from = 0; packets && from < RANKS; from++) {
        struct accl_packet out = {.size = sizeof out}, in = {.size = sizeof in};
        accl_device *to = devices[1 - from];
        while (accl_packet_next(devices[from], &out) == ACCL_OK) {
            CHECK(accl_packet_space(to, out.bytes, &in) == ACCL_OK);
            memcpy(in.data, out.data, out.bytes);
            CHECK(accl_packet_arrived(to, from, in.id) == ACCL_OK);
            CHECK(accl_packet_done(devices[from], out.id) == ACCL_OK);
        }
    }
}

static struct accl_call call_of(uint32_t number, uint32_t operation, uint64_t count, uint32_t tag)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = count,
                             .dtype = ACCL_INT32,
                             .root_src_dst = 1 - number,
                             .tag = tag};
    call.address[operation == ACCL_RECV || operation == ACCL_COPY ? 2 : 0] =
        accl_buffer_address(buffers[number]);
    return call;
}

static int put(uint64_t count, int32_t value)
{
    struct accl_call call = call_of(1, ACCL_SEND, count, STREAM);
    int32_t *source = accl_buffer_host(buffers[1]);
    call.stream_flags = ACCL_RES_STREAM;
    for (uint64_t i = 0; i < count; i++)
        source[i] = value + (int32_t)i;
    return accl_call_sync(devices[1], &call, NULL);
}

/* One look of the receiver while AVAILABLE allocations work. */
static int pull(int available, int32_t *value)
{
    static int32_t back[LARGE];
    uint32_t stream;
    size_t bytes;
    left = available;
    fails = available >= 0;
    int status = accl_stream_pull(devices[0], &stream, back, sizeof back, &bytes, 0);
    fails = false;
    if (status == ACCL_OK || status == ACCL_NO_MEMORY)
        CHECK(stream == STREAM);
    *value = back[0];
    return status;
}

static bool tells_of(const char *text, uint64_t count, const char *more)
{
    char expected[100];
    snprintf(expected, sizeof expected, "put of %llu bytes from rank 1 to stream %d was lost%s: ",
             (unsigned long long)count * sizeof(int32_t), STREAM, more);
    return strstr(text, expected) && strstr(text, "out of memory");
}

/* The memory bounds how many puts come; the reader is told of the others in between. */
static void some_are_lost(uint64_t count)
{
    int32_t value;
    CHECK(accl_stream_mode(devices[0], ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    for (int available = 0; available <= PUTS; available++) {
        for (int k = 0; k < PUTS; k++)
            CHECK(put(count, 1000 * k) == ACCL_OK);
        carry();
        int status = pull(available, &value);
        for (int k = 0; k < available; k++, status = pull(-1, &value))
            CHECK(status == ACCL_OK && value == 1000 * k);
        if (available < PUTS) {
            char more[40] = "";
            if (PUTS - available > 1)
                snprintf(more, sizeof more, ", and %d more after it", PUTS - available - 1);
            CHECK(status == ACCL_NO_MEMORY);
            CHECK(tells_of(accl_error_message(), count, more));
            status = pull(-1, &value);
        }
        CHECK(status == ACCL_PENDING);
    }
}

/* A message for a receive call, behind puts that are lost. */
static void nothing_waits_behind(void)
{
    int32_t value;
    for (int k = 0; k < PUTS; k++)
        CHECK(put(SMALL, 1000 * k) == ACCL_OK);
    struct accl_call send = call_of(1, ACCL_SEND, SMALL, TAG);
    struct accl_call recv = call_of(0, ACCL_RECV, SMALL, TAG);
    CHECK(accl_call_sync(devices[1], &send, NULL) == ACCL_OK);
    carry();
    fails = true;
    left = 0;
    CHECK(accl_call_sync(devices[0], &recv, NULL) == ACCL_OK);
    fails = false;
    CHECK(((const int32_t *)accl_buffer_host(buffers[0]))[0] == 1000 * (PUTS - 1));
    /* By packets they are looked for apart. */
    CHECK(pull(0, &value) == ACCL_NO_MEMORY);
    CHECK(tells_of(accl_error_message(), SMALL, ", and 2 more after it"));
    CHECK(pull(-1, &value) == ACCL_PENDING);
}

/* The engine's own input. Of a hook's it cannot be known when it would have pushed it. */
static void calls_that_read_the_stream_fail(int mode, accl_stream_hook hook)
{
    int32_t value;
    CHECK(accl_stream_mode(devices[0], mode, hook, NULL) == ACCL_OK);
    CHECK(put(SMALL, 0) == ACCL_OK);
    carry();
    CHECK(pull(0, &value) == ACCL_PENDING);
    struct accl_call copy = call_of(0, ACCL_COPY, SMALL, 0);
    copy.stream_flags = ACCL_OP0_STREAM;
    CHECK(accl_call_sync(devices[0], &copy, NULL) != ACCL_OK);
    CHECK(tells_of(accl_error_message(), SMALL, ""));
    CHECK(accl_stream_push(devices[0], accl_buffer_host(buffers[1]), SMALL * sizeof(int32_t)) ==
          ACCL_OK);
    CHECK(accl_call_sync(devices[0], &copy, NULL) == ACCL_OK);
}

static void no_hook(void *argument, uint32_t stream, const void *data, size_t bytes)
{
    (void)argument;
    (void)stream;
    (void)data;
    (void)bytes;
}

struct large_put {
    int status;
    char text[800];
    atomic_bool done;
};

static void *put_much(void *argument)
{
    struct large_put *large = argument;
    large->status = put(LARGE, 1);
    snprintf(large->text, sizeof large->text, "%s", accl_error_message());
    atomic_store(&large->done, true);
    return NULL;
}

/* One that waits for its receiver: both are told. */
static void senders_that_wait_are_told(void)
{
    pthread_t thread;
    int32_t value;
    struct large_put large = {.status = ACCL_OK};
    CHECK(accl_stream_mode(devices[0], ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    CHECK(pthread_create(&thread, NULL, put_much, &large) == 0);
    int status;
    do {
        carry();
        status = pull(0, &value);
    } while (status == ACCL_PENDING);
    CHECK(status == ACCL_NO_MEMORY && tells_of(accl_error_message(), LARGE, ""));
    while (!atomic_load(&large.done)) {
        carry();
        CHECK(pull(-1, &value) == ACCL_PENDING);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(large.status != ACCL_OK);
    CHECK(
        strstr(large.text, "a stream put of 80000 bytes to stream 9 of rank 0 of communicator 0"));
    CHECK(strstr(large.text, "that rank is out of memory"));

    /* And the next one comes. */
    large = (struct large_put){.status = ACCL_OK};
    CHECK(pthread_create(&thread, NULL, put_much, &large) == 0);
    do {
        carry();
        status = pull(-1, &value);
    } while (status == ACCL_PENDING);
    CHECK(status == ACCL_OK && value == 1);
    while (!atomic_load(&large.done))
        carry();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(large.status == ACCL_OK);
}

int main(void)
{
    const char *transport = getenv("ACCL_TRANSPORT");
    packets = transport && strcmp(transport, "packets") == 0;
    char job[64];
    snprintf(job, sizeof job, "puts %d", (int)getpid());
    for (uint32_t i = 0; i < RANKS; i++)
        set_up(i, job);
    /* Greetings. */
    for (int i = 0; i < 4; i++)
        carry();

    some_are_lost(4);
    some_are_lost(SMALL);
    nothing_waits_behind();
    calls_that_read_the_stream_fail(ACCL_STREAM_LOOPBACK, NULL);
    calls_that_read_the_stream_fail(ACCL_STREAM_HOOK, no_hook);
    senders_that_wait_are_told();

    for (uint32_t i = 0; packets && i < RANKS; i++)
        accl_packet_leave(devices[i]);
    carry();
    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(devices[i]);
        accl_buffer_free(buffers[i]);
    }
    return 0;
}
