/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Several devices in one process: one thread that sends before it receives, collectives from a
 * thread each, asynchronous calls, and closing in any order. usage: instances
 */
#include <pthread.h>

#include "ranks.h"

#define N 3

static struct rank ranks[N];
static accl_buffer *source[N], *result[N];

static void *collect(void *argument)
{
    const struct rank *r = argument;
    for (int round = 0; round < 60; round++) {
        uint64_t count = round % 3 == 2 ? 9000 : 100;
        struct accl_call call = make_call(ACCL_ALLREDUCE, count, ACCL_INT32);
        call.address[0] = accl_buffer_address(source[r->rank]);
        call.address[2] = accl_buffer_address(result[r->rank]);
        if (round % 2) {
            accl_request *request;
            CHECK(accl_call_start(r->device, &call, NULL, 0, &request) == ACCL_OK);
            CHECK(accl_request_wait(request, -1) == ACCL_OK);
            accl_request_free(request);
        } else {
            CHECK(run_call(r, &call) == 0);
        }
        CHECK(((int32_t *)accl_buffer_host(result[r->rank]))[count - 1] == 1 + 2 + 3);
        call.operation = ACCL_BCAST;
        call.root_src_dst = (uint32_t)round % N;
        CHECK(run_call(r, &call) == 0);
        call = make_call(ACCL_BARRIER, 0, 0);
        CHECK(run_call(r, &call) == 0);
        for (int i = 0; i < 9000; i++)
            ((int32_t *)accl_buffer_host(source[r->rank]))[i] = (int32_t)r->rank + 1;
        CHECK(run_call(r, &call) == 0);
    }
    return NULL;
}

int main(void)
{
    char job[64];
    snprintf(job, sizeof job, "instances %d", (int)getpid());
    for (uint32_t i = 0; i < N; i++) {
        rank_open(&ranks[i], job, i, N, ACCL_MEMORY_UNIFIED, 8, 1024);
        CHECK(accl_buffer_create(ranks[i].device, 36000, 0, 0, &source[i]) == ACCL_OK);
        CHECK(accl_buffer_create(ranks[i].device, 36000, 0, 0, &result[i]) == ACCL_OK);
        for (int k = 0; k < 9000; k++)
            ((int32_t *)accl_buffer_host(source[i]))[k] = (int32_t)i + 1;
    }
    struct rank twice;
    struct accl_config config = {.size = sizeof config, .job = job};
    struct accl_rank list[N];
    memset(list, 0, sizeof list);
    for (uint32_t i = 0; i < N; i++) {
        list[i].ip = 0x7F000001;
        list[i].port = 9000 + i;
    }
    uint32_t id;
    CHECK(accl_open(&config, &twice.device) == ACCL_OK);
    CHECK(accl_create_communicator(twice.device, list, N, 0, &id) == ACCL_NOT_READY);
    CHECK(accl_setup_rx_buffers(twice.device, 4, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(twice.device, list, N, 0, &id) == ACCL_IN_USE);
    accl_close(twice.device);
    for (uint32_t operation = ACCL_SEND; operation <= ACCL_RECV; operation++) {
        for (uint32_t i = 0; i < N; i++) {
            struct accl_call call = make_call(operation, 1000, ACCL_INT32);
            uint32_t next = (i + 1) % N, previous = (i + N - 1) % N;
            call.root_src_dst = operation == ACCL_SEND ? next : previous;
            call.tag = 1;
            call.address[0] = accl_buffer_address(source[i]);
            call.address[2] = accl_buffer_address(result[i]);
            CHECK(run_call(&ranks[i], &call) == 0);
            if (operation == ACCL_RECV)
                CHECK(((int32_t *)accl_buffer_host(result[i]))[999] == (int32_t)previous + 1);
        }
    }
    pthread_t threads[N];
    for (uint32_t i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], NULL, collect, &ranks[i]) == 0);
    for (uint32_t i = 0; i < N; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < N; i++) {
        accl_close(ranks[(i + 1) % N].device);
        accl_buffer_free(source[i]);
        accl_buffer_free(result[i]);
    }
    puts("ok");
    return 0;
}
