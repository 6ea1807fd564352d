/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaccl: a stream put that comes while the receiver has no memory waits until there is some. Two
 * ranks of one process; by packets with ACCL_TRANSPORT=packets.
 */
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

enum { RANKS = 2, COUNT = 100, PUTS = 3, MOST = 8 };

void *__libc_malloc(size_t size);
static _Thread_local bool fails;
static _Thread_local int left; /* allocations before the first that fails */

void *malloc(size_t size)
{
    return fails && left-- <= 0 ? NULL : __libc_malloc(size);
}

static accl_device *devices[RANKS];
static accl_buffer *sources[RANKS];

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
    CHECK(accl_setup_rx_buffers(devices[number], PUTS * MOST, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(devices[number], ranks, RANKS, number, &id) == ACCL_OK);
    CHECK(accl_buffer_create(devices[number], COUNT * sizeof(int32_t), 0, ACCL_BUFFER_ZERO,
                             &sources[number]) == ACCL_OK);
    CHECK(accl_stream_mode(devices[number], ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
}

/* What each rank has for the other. */
static void carry(void)
{
    for (uint32_t from = 0; from < RANKS; from++) {
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

static void put(int32_t value)
{
    int32_t *source = accl_buffer_host(sources[1]);
    struct accl_call call = {.size = sizeof call,
                             .operation = ACCL_SEND,
                             .count = COUNT,
                             .dtype = ACCL_INT32,
                             .root_src_dst = 0,
                             .tag = 9,
                             .stream_flags = ACCL_RES_STREAM};
    for (int i = 0; i < COUNT; i++)
        source[i] = value + i;
    call.address[0] = accl_buffer_address(sources[1]);
    CHECK(accl_call_sync(devices[1], &call, NULL) == ACCL_OK);
}

static int pull(int32_t *back)
{
    uint32_t stream;
    size_t bytes;
    int status = accl_stream_pull(devices[0], &stream, back, COUNT * sizeof *back, &bytes, 0);
    CHECK(status != ACCL_OK || (stream == 9 && bytes == COUNT * sizeof *back));
    return status;
}

int main(void)
{
    const char *transport = getenv("ACCL_TRANSPORT");
    bool packets = transport && strcmp(transport, "packets") == 0;
    static int32_t back[COUNT];
    char job[64];
    snprintf(job, sizeof job, "puts %d", (int)getpid());
    for (uint32_t i = 0; i < RANKS; i++)
        set_up(i, job);
    /* Greetings. */
    for (int i = 0; packets && i < 4; i++)
        carry();

    for (int n = 0; n < MOST; n++) {
        for (int k = 0; k < PUTS; k++)
            put(1000 * n + 100 * k);
        if (packets)
            carry();
        left = n;
        fails = true;
        int got = 0;
        for (int tries = 0; tries < 2 * PUTS; tries++)
            if (pull(back) == ACCL_OK)
                CHECK(back[0] == 1000 * n + 100 * got++);
        fails = false;
        CHECK(n > 0 || got == 0);
        for (; got < PUTS; got++) {
            CHECK(pull(back) == ACCL_OK);
            CHECK(back[0] == 1000 * n + 100 * got && back[COUNT - 1] == back[0] + COUNT - 1);
        }
        CHECK(pull(back) == ACCL_PENDING);
    }

    for (uint32_t i = 0; packets && i < RANKS; i++)
        accl_packet_leave(devices[i]);
    if (packets)
        carry();
    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(devices[i]);
        accl_buffer_free(sources[i]);
    }
    return 0;
}
