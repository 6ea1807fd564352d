/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * A stream put whose rx buffers or place in the sender's memory were overwritten: its reader is
 * told, and what comes after it arrives. Two ranks of one process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl.h"
#include "accl/transport/shm/peer.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, \
                    accl_error_message()); \
            exit(1); \
        } \
    } while (0)

/* Small: in rx buffers. Large: more than all of them hold, so that it stays with the sender. */
enum { RANKS = 2, SMALL = 100, LARGE = 20000, NBUFS = 8, STREAM = 9 };

static accl_device *devices[RANKS];
static accl_buffer *buffers[RANKS];

static void open_rank(uint32_t number, const char *job)
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

static int put(uint64_t count, int32_t value)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = ACCL_SEND,
                             .count = count,
                             .dtype = ACCL_INT32,
                             .tag = STREAM,
                             .stream_flags = ACCL_RES_STREAM};
    call.address[0] = accl_buffer_address(buffers[1]);
    *(int32_t *)accl_buffer_host(buffers[1]) = value;
    return accl_call_sync(devices[1], &call, NULL);
}

static int pull(int64_t timeout_ns, int32_t *value)
{
    static int32_t back[LARGE];
    uint32_t stream;
    size_t bytes;
    int status = accl_stream_pull(devices[0], &stream, back, sizeof back, &bytes, timeout_ns);
    if (status == ACCL_OK || status == ACCL_CALL_FAILED)
        CHECK(stream == STREAM);
    *value = back[0];
    return status;
}

static void expect_loss(int count, const char *more)
{
    char text[100];
    snprintf(text, sizeof text, "put of %zu bytes from rank 1 to stream %d was lost%s: ",
             (size_t)count * sizeof(int32_t), STREAM, more);
    CHECK(strstr(accl_error_message(), text) != NULL);
    CHECK(strstr(accl_error_message(), "has overwritten this rank's memory") != NULL);
}

/* Rx buffers that say that they hold more than they can. */
static void damage_rx_buffers(void)
{
    const struct pool *pool = &devices[0]->pool;
    for (uint32_t i = 0; i < pool->slot_count; i++)
        if (pool->slots[i].bytes != 0)
            pool->slots[i].bytes = 1 << 20;
}

static void test_the_reader_of_damaged_rx_buffers_is_told(void)
{
    int32_t value;
    CHECK(accl_stream_mode(devices[0], ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    CHECK(put(SMALL, 1) == ACCL_OK);
    CHECK(put(SMALL, 2) == ACCL_OK);
    damage_rx_buffers();
    CHECK(put(SMALL, 3) == ACCL_OK);

    CHECK(pull(0, &value) == ACCL_CALL_FAILED);
    expect_loss(SMALL, ", and 1 more after it");
    CHECK(pull(0, &value) == ACCL_OK && value == 3);
    CHECK(pull(0, &value) == ACCL_PENDING);
}

static void *put_much(void *status)
{
    *(int *)status = put(LARGE, 1);
    return NULL;
}

/* An element of a put that waits in the sender's memory is said to start within another one. */
static void test_the_reader_of_a_damaged_place_is_told(void)
{
    pthread_t thread;
    int32_t value;
    int sent = -1;
    const struct peer *peer = peer_of(devices[0], 1);
    struct ring_entry *next = &peer->in->entries[peer->received % RING_ENTRIES];
    CHECK(pthread_create(&thread, NULL, put_much, &sent) == 0);
    while (atomic_load(&next->number) != peer->received + 1)
        sched_yield();
    CHECK(atomic_load(&next->kind) == ENTRY_DIRECT);
    next->offset++;

    CHECK(pull(-1, &value) == ACCL_CALL_FAILED);
    expect_loss(LARGE, "");
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sent == ACCL_OK);
}

/* In the modes in which the engine reads what comes. */
static void test_a_call_that_reads_the_stream_fails(void)
{
    CHECK(accl_stream_mode(devices[0], ACCL_STREAM_LOOPBACK, NULL, NULL) == ACCL_OK);
    struct accl_call copy = {.size = sizeof copy,
                             .operation = ACCL_COPY,
                             .count = SMALL,
                             .dtype = ACCL_INT32,
                             .stream_flags = ACCL_OP0_STREAM};
    copy.address[2] = accl_buffer_address(buffers[0]);
    CHECK(put(SMALL, 1) == ACCL_OK);
    damage_rx_buffers();
    CHECK(put(SMALL, 2) == ACCL_OK);

    uint32_t retcode;
    CHECK(accl_call_sync(devices[0], &copy, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode == ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR));
    expect_loss(SMALL, "");
    CHECK(accl_call_sync(devices[0], &copy, &retcode) == ACCL_OK);
    CHECK(*(int32_t *)accl_buffer_host(buffers[0]) == 2);
}

/* A call of another kind that happens to find the damage has its own result. */
static void test_other_calls_do_not_fail(void)
{
    int32_t value;
    struct accl_call recv = {.size = sizeof recv, .operation = ACCL_RECV};
    struct accl_call limit = {
        .size = sizeof limit, .operation = ACCL_CONFIG, .function = ACCL_CFG_TIMEOUT, .count = 50};
    CHECK(accl_stream_mode(devices[0], ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    CHECK(accl_call_sync(devices[0], &limit, NULL) == ACCL_OK);
    recv.count = SMALL;
    recv.dtype = ACCL_INT32;
    recv.root_src_dst = 1;
    recv.address[2] = accl_buffer_address(buffers[0]);
    CHECK(put(SMALL, 1) == ACCL_OK);
    damage_rx_buffers();

    CHECK(accl_call_sync(devices[0], &recv, NULL) == ACCL_CALL_FAILED);
    CHECK(strstr(accl_error_message(), "no message from rank 1") != NULL);
    CHECK(pull(0, &value) == ACCL_CALL_FAILED);
    expect_loss(SMALL, "");
}

int main(void)
{
    char job[64];
    snprintf(job, sizeof job, "damaged puts %d", (int)getpid());
    for (uint32_t i = 0; i < RANKS; i++)
        open_rank(i, job);

    test_the_reader_of_damaged_rx_buffers_is_told();
    test_the_reader_of_a_damaged_place_is_told();
    test_a_call_that_reads_the_stream_fails();
    test_other_calls_do_not_fail();

    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(devices[i]);
        accl_buffer_free(buffers[i]);
    }
    return 0;
}
