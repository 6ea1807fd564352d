/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Communicators are made, used and freed, many more than there can be at a time; calls with a freed
 * one fail; memory comes back when all ranks have freed theirs. usage: freed
 */
#include "ranks.h"

#define RANKS 4
/* More than there can be lanes. */
#define ROUNDS 600
#define LARGE 3000

static char job[64];

static uint32_t make(const struct rank *r)
{
    static const uint32_t all[RANKS] = {0, 1, 2, 3};
    uint32_t id = 0;
    CHECK(accl_split_communicator(r->device, 0, all, RANKS, &id) == ACCL_OK && id);
    return id;
}

/* An operation whose source has COUNT times NUMBER + the rank; error bits. */
static uint32_t call(const struct rank *r, uint32_t operation, uint64_t count, uint32_t comm,
                     accl_buffer *buffer)
{
    struct accl_call c = make_call(operation, count, ACCL_INT32);
    c.comm = comm;
    c.root_src_dst = comm % RANKS;
    c.address[0] = c.address[2] = accl_buffer_address(buffer);
    int32_t *data = accl_buffer_host(buffer);
    for (uint64_t i = 0; i < count; i++)
        data[i] = (int32_t)(r->rank + comm);
    uint32_t bits = run_call(r, &c);

    int32_t sum = RANKS * (RANKS - 1) / 2 + RANKS * (int32_t)comm;
    int32_t want = operation == ACCL_ALLREDUCE ? sum : (int32_t)(c.root_src_dst + comm);
    for (uint64_t i = 0; i < count && !bits; i++)
        CHECK(data[i] == want);
    return bits;
}

static uint64_t allocated(const struct rank *r)
{
    struct accl_memory_info info = {.size = sizeof info};
    CHECK(accl_memory_info(r->device, &info) == ACCL_OK);
    return info.allocated;
}

static void meet(const struct rank *r)
{
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(r, &barrier) == 0);
}

static void free_again_and_again(const struct rank *r, accl_buffer *buffer)
{
    for (uint32_t k = 0; k < ROUNDS; k++) {
        uint32_t comm = make(r);
        if (k % 5 != 4)
            CHECK(call(r, ACCL_ALLREDUCE, k % 7 ? 10 : LARGE, comm, buffer) == 0);
        if (k % 3 == 0)
            CHECK(call(r, ACCL_BCAST, k % 2 ? 10 : LARGE, comm, buffer) == 0);
        CHECK(accl_free_communicator(r->device, comm) == ACCL_OK);
        CHECK(accl_free_communicator(r->device, comm) == ACCL_NOT_FOUND);
        CHECK(call(r, ACCL_ALLREDUCE, 1, comm, buffer) == ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED));
        CHECK(strstr(accl_error_message(), "was freed") != NULL);
    }
}

/* While a call on it waits, a communicator cannot be freed. */
static void refuse_while_calls_run(const struct rank *r, accl_buffer *buffer)
{
    uint32_t comm = make(r);
    struct accl_call c = make_call(ACCL_RECV, 10, ACCL_INT32);
    c.comm = comm;
    c.root_src_dst = (r->rank + 1) % RANKS;
    c.address[2] = accl_buffer_address(buffer);
    accl_request *request;
    CHECK(accl_call_start(r->device, &c, NULL, 0, &request) == ACCL_OK);
    CHECK(accl_free_communicator(r->device, comm) == ACCL_IN_USE);
    CHECK(accl_free_communicator(r->device, 0) == ACCL_INVALID);
    meet(r); /* only then may messages come */

    accl_buffer *other;
    CHECK(accl_buffer_create(r->device, 40, 0, ACCL_BUFFER_ZERO, &other) == ACCL_OK);
    c.operation = ACCL_SEND;
    c.root_src_dst = (r->rank + RANKS - 1) % RANKS;
    c.address[0] = accl_buffer_address(other);
    CHECK(run_call(r, &c) == 0);
    CHECK(accl_request_wait(request, -1) == ACCL_OK);
    accl_request_free(request);
    accl_buffer_free(other);
    CHECK(accl_free_communicator(r->device, comm) == ACCL_OK);
}

/* One that a failed call has left unusable. */
static void free_broken(const struct rank *r, accl_buffer *buffer)
{
    uint32_t comm = make(r);
    uint32_t operation = r->rank == 1 ? ACCL_ALLGATHER : ACCL_ALLREDUCE;
    CHECK(call(r, operation, 10, comm, buffer) != 0);
    CHECK(accl_free_communicator(r->device, comm) == ACCL_OK);
    meet(r);
    comm = make(r);
    CHECK(call(r, ACCL_ALLREDUCE, LARGE, comm, buffer) == 0);
    CHECK(accl_free_communicator(r->device, comm) == ACCL_OK);
}

static void body(uint32_t rank, uint32_t n)
{
    struct rank r;
    accl_buffer *buffer;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 16, 1024);
    set_timeout(&r, 30000);
    CHECK(accl_buffer_create(r.device, 4 * LARGE, 0, 0, &buffer) == ACCL_OK);

    /* Memory that is kept for messages and between hosts is there after the first rounds. */
    meet(&r);
    free_again_and_again(&r, buffer);
    meet(&r);
    uint64_t before = allocated(&r);
    free_again_and_again(&r, buffer);
    refuse_while_calls_run(&r, buffer);

    /* After the barrier all have freed theirs: the next one that is made finds the memory. */
    meet(&r);
    CHECK(accl_free_communicator(r.device, make(&r)) == ACCL_OK);
    CHECK(allocated(&r) <= before + (UINT64_C(8) << 16));

    free_broken(&r, buffer);
    meet(&r);
    accl_buffer_free(buffer);
    rank_close(&r);
}

int main(void)
{
    snprintf(job, sizeof job, "freed %d", (int)getpid());
    run_ranks(RANKS, body);
    puts("ok");
    return 0;
}
