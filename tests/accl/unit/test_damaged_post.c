/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * A place that a rank posted for a collective call was overwritten: who comes to use it is told,
 * and so is the rank. Two ranks of one process.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"

#include "accl.h"
#include "accl/base/communicator.h"
#include "accl/transport/shm/lane.h"

/* More elements than a post has room for. */
enum { RANKS = 2, COUNT = 5000 };

static accl_device *devices[RANKS];
static accl_buffer *buffers[RANKS];

static void open_rank(uint32_t number, const char *job, uint32_t memory_mode)
{
    struct accl_config config = {.size = sizeof config, .job = job, .memory_mode = memory_mode};
    struct accl_rank ranks[RANKS] = {{0}};
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (struct accl_rank){
            .ip = 0x7F000001, .port = 9000 + i, .session = i, .max_segment_size = 1024};
    uint32_t id;
    CHECK(accl_open(&config, &devices[number]) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(devices[number], 8, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(devices[number], ranks, RANKS, number, &id) == ACCL_OK);
    CHECK(accl_buffer_create(devices[number], 2 * RANKS * COUNT * sizeof(int32_t), 0,
                             ACCL_BUFFER_ZERO, &buffers[number]) == ACCL_OK);
}

/* From the buffer's first elements to those behind them; rank 0 is the root. */
static struct accl_call call_of(uint32_t rank, uint32_t operation)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = COUNT,
                             .dtype = ACCL_INT32,
                             .host_flags = ACCL_OP0_SYNC | ACCL_RES_SYNC};
    call.address[0] = accl_buffer_address(buffers[rank]);
    call.address[2] =
        call.address[0] + (operation == ACCL_BCAST ? 0 : RANKS * COUNT * sizeof(int32_t));
    return call;
}

struct result {
    uint32_t operation;
    int status;
    uint32_t retcode;
};

static void *run_root(void *argument)
{
    struct result *result = argument;
    struct accl_call call = call_of(0, result->operation);
    result->status = accl_call_sync(devices[0], &call, &result->retcode);
    return NULL;
}

/* The post of the root's first call, which waits for the other rank. */
static struct lane_post *wait_for_post(void)
{
    struct communicator *comm = communicator_of(devices[0]->communicators.first);
    struct lane_post *post = lane_post_of(comm->lanes->own, 1);
    while (atomic_load(&post->number) != 1)
        sched_yield();
    return post;
}

static void expect_refusal(uint32_t operation, uint32_t memory_mode,
                           void (*damage)(struct lane_post *))
{
    static unsigned number;
    char job[64];
    snprintf(job, sizeof job, "damaged posts %d %u", (int)getpid(), number++);
    for (uint32_t i = 0; i < RANKS; i++)
        open_rank(i, job, memory_mode);

    pthread_t thread;
    struct result root = {.operation = operation};
    CHECK(pthread_create(&thread, NULL, run_root, &root) == 0);
    damage(wait_for_post());

    uint32_t retcode = 0;
    struct accl_call call = call_of(1, operation);
    CHECK(accl_call_sync(devices[1], &call, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode == ACCL_ERROR(DMA_DECODE_ERROR));
    CHECK(strstr(accl_error_message(), "rank 0") != NULL);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(root.status == ACCL_CALL_FAILED && root.retcode != 0);

    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(devices[i]);
        accl_buffer_free(buffers[i]);
    }
}

static void move_source(struct lane_post *post)
{
    post->source = UINT64_C(1) << 40;
}

static void move_result(struct lane_post *post)
{
    post->result = UINT64_C(1) << 40;
}

static void move_source_copy(struct lane_post *post)
{
    CHECK(post->source_copy != 0);
    post->source_copy = UINT64_C(1) << 40;
}

static void move_result_copy(struct lane_post *post)
{
    CHECK(post->result_copy != 0);
    post->result_copy = UINT64_C(1) << 40;
}

int main(void)
{
    expect_refusal(ACCL_BCAST, ACCL_MEMORY_UNIFIED, move_source);
    expect_refusal(ACCL_SCATTER, ACCL_MEMORY_UNIFIED, move_source);
    expect_refusal(ACCL_GATHER, ACCL_MEMORY_UNIFIED, move_result);
    expect_refusal(ACCL_ALLTOALL, ACCL_MEMORY_SEPARATE, move_source_copy);
    expect_refusal(ACCL_GATHER, ACCL_MEMORY_SEPARATE, move_result_copy);
    return 0;
}
