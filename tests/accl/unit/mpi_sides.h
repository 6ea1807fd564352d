/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of two ranks in one process, whose packets fake_mpi.h carries. */
#ifndef ACCL_TEST_MPI_SIDES_H
#define ACCL_TEST_MPI_SIDES_H

#include <stdio.h>
#include <unistd.h>

#include "accl.h"

#include "tests/accl/unit/fake_mpi.h"

enum { MANY = 100000, TAG = 5 };

struct side {
    uint32_t rank;
    bool together; /* on one host with the other one */
    struct accl_mpi mpi;
    accl_device *device;
    accl_buffer *source, *result;
};

static inline struct accl_mpi setup_of(uint32_t rank, bool pointers, bool any_thread)
{
    return (struct accl_mpi){.size = sizeof(struct accl_mpi),
                             .library = "libc.so.6",
                             .comm = FAKE_COMM + rank,
                             .byte = FAKE_BYTE,
                             .handle_bytes = pointers ? sizeof(void *) : sizeof(int),
                             .status_bytes = FAKE_STATUS_BYTES,
                             .status_source = FAKE_SOURCE_AT,
                             .status_tag = FAKE_TAG_AT,
                             .any_source = FAKE_ANY,
                             .any_tag = FAKE_ANY,
                             .any_thread = any_thread};
}

/* Has MPI make all reductions itself. */
static inline void set_reductions(struct accl_mpi *mpi, uint32_t rank)
{
    mpi->reductions = 1u << ACCL_REDUCE | 1u << ACCL_ALLREDUCE | 1u << ACCL_REDUCE_SCATTER;
    mpi->reduction_comm = FAKE_REDUCTIONS + rank;
    mpi->reduction_types[0] = FAKE_FLOAT;
    mpi->reduction_functions[0] = FAKE_SUM;
}

static inline void open_side(struct side *side, uint32_t reach)
{
    char job[32]; /* no other program's that runs now */
    snprintf(job, sizeof job, "unit mpi %d", (int)getpid());
    struct accl_config config = {.size = sizeof config,
                                 .memory_bytes = 8 << 20,
                                 .memory_mode = ACCL_MEMORY_UNIFIED,
                                 .job = job};
    struct accl_rank ranks[FAKE_RANKS];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        ranks[i] = (struct accl_rank){
            .ip = 0x7F000001 + (side->together ? 0 : i), .port = 9000 + i, .reach = reach};

    uint32_t id;
    struct accl_call timeout = {.size = sizeof timeout,
                                .operation = ACCL_CONFIG,
                                .function = ACCL_CFG_TIMEOUT,
                                .count = 60000};
    CHECK(accl_open(&config, &side->device) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(side->device, 16, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(side->device, ranks, FAKE_RANKS, side->rank, &id) == ACCL_OK);
    CHECK(accl_call_sync(side->device, &timeout, NULL) == ACCL_OK);
    CHECK(accl_buffer_create(side->device, MANY * 4, ACCL_FLOAT32, 0, &side->source) == ACCL_OK);
    CHECK(accl_buffer_create(side->device, MANY * 4, ACCL_FLOAT32, 0, &side->result) == ACCL_OK);
}

static inline void close_side(struct side *side)
{
    accl_close(side->device);
    accl_buffer_free(side->source);
    accl_buffer_free(side->result);
}

static inline struct accl_call call_of(const struct side *side, uint32_t operation, uint64_t count)
{
    return (struct accl_call){
        .size = sizeof(struct accl_call),
        .operation = operation,
        .count = count,
        .root_src_dst = 1 - side->rank,
        .function = ACCL_SUM,
        .tag = TAG,
        .dtype = ACCL_FLOAT32,
        .address = {accl_buffer_address(side->source), 0, accl_buffer_address(side->result)}};
}

static inline void run(const struct side *side, uint32_t operation, uint64_t count)
{
    struct accl_call call = call_of(side, operation, count);
    uint32_t retcode = 0;
    int status = accl_call_sync(side->device, &call, &retcode);
    if (status != ACCL_OK)
        fprintf(stderr, "rank %u: %s\n", side->rank, accl_error_message());
    CHECK(status == ACCL_OK && retcode == 0);
}

static inline void start(const struct side *side, uint32_t operation, uint64_t count,
                         accl_request **request)
{
    struct accl_call call = call_of(side, operation, count);
    CHECK(accl_call_start(side->device, &call, NULL, 0, request) == ACCL_OK);
}

static inline void set_timeout(const struct side *side, uint64_t ms)
{
    struct accl_call timeout = {.size = sizeof timeout,
                                .operation = ACCL_CONFIG,
                                .function = ACCL_CFG_TIMEOUT,
                                .count = ms};
    CHECK(accl_call_sync(side->device, &timeout, NULL) == ACCL_OK);
}

static inline void fill(const struct side *side, float value)
{
    float *mine = accl_buffer_host(side->source);
    for (int i = 0; i < MANY; i++)
        mine[i] = value;
}

static inline void check_result(const struct side *side, uint64_t count, float value)
{
    const float *got = accl_buffer_host(side->result);
    for (uint64_t i = 0; i < count; i++)
        CHECK(got[i] == value);
}

static inline void check_nothing_is_left(void)
{
    for (int i = 0; i < FAKE_MESSAGES; i++)
        CHECK(!fake.messages[i].used);
    for (int i = 0; i < FAKE_RECEIVES; i++)
        CHECK(!fake.receives[i].used);
}

static inline void *stop_side(void *argument)
{
    const struct side *side = argument;
    CHECK(accl_mpi_stop(side->device, INT64_C(60000000000)) == ACCL_OK);
    return NULL;
}

/* Both at once, as each waits for the other's last message. */
static inline void close_both(struct side *sides)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, stop_side, &sides[1]) == 0);
    stop_side(&sides[0]);
    CHECK(pthread_join(other, NULL) == 0);
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        close_side(&sides[i]);
    check_nothing_is_left();
}

#endif
