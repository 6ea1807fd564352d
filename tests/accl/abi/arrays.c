/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Collectives whose operands are memory of the caller, or buffers at some ranks, with data on the
 * device or in the host's pages; ranks are threads.
 * usage: arrays RANKS auto|never
 */
#include <pthread.h>
#include <stdbool.h>

#include "ranks.h"

#include "accl/engine/communicator.h"
#include "accl/transport/shm/lane.h"

enum { RANKS_MOST = 6, ROUND = (128 << 10) / 4, WINDOW = 4 * ROUND, LARGEST = 2 * WINDOW + 77 };
#define ROOT 1U

static uint32_t ranks;
static char job[64];

enum place { ARRAY, DEVICE, HOST };

struct operand {
    enum place place;
    accl_buffer *buffer; /* NULL: an array */
    float *array;        /* or what is copied to and from the buffer */
    uint64_t count;
};

static struct operand make_operand(const struct rank *r, uint64_t count, enum place place)
{
    struct operand o = {.place = place, .count = count, .array = malloc(count * 4)};
    CHECK(o.array != NULL);
    if (place != ARRAY)
        CHECK(accl_buffer_create(r->device, count * 4, ACCL_FLOAT32, 0, &o.buffer) == ACCL_OK);
    return o;
}

static void free_operand(struct operand *o)
{
    if (o->buffer)
        accl_buffer_free(o->buffer);
    free(o->array);
}

static uint64_t address_of(const struct operand *o)
{
    return o->buffer ? accl_buffer_address(o->buffer) : (uintptr_t)o->array;
}

static float number(uint32_t rank, uint64_t i)
{
    return (float)((i * 7 + rank * 31) % 199);
}

/* Parts of the count that a rank reads, and below: writes. */
static uint32_t parts_read(uint32_t operation)
{
    return operation == ACCL_SCATTER || operation == ACCL_ALLTOALL ||
                   operation == ACCL_REDUCE_SCATTER
               ? ranks
               : 1;
}

static uint32_t parts_written(uint32_t operation)
{
    return operation == ACCL_GATHER || operation == ACCL_ALLGATHER || operation == ACCL_ALLTOALL
               ? ranks
               : 1;
}

/* Element I of the result of RANK. */
static float wanted(uint32_t operation, uint32_t rank, uint64_t count, uint64_t i)
{
    uint32_t from = (uint32_t)(i / count);
    float sum = 0;
    switch (operation) {
    case ACCL_BCAST: return number(ROOT, i);
    case ACCL_SCATTER: return number(ROOT, rank * count + i);
    case ACCL_GATHER:
    case ACCL_ALLGATHER: return number(from, i % count);
    case ACCL_ALLTOALL: return number(from, rank * count + i % count);
    default:
        for (uint32_t r = 0; r < ranks; r++)
            sum += number(r, operation == ACCL_REDUCE_SCATTER ? rank * count + i : i);
        return sum;
    }
}

/* Gives the operand its data. */
static void put(const struct rank *r, const struct operand *o)
{
    if (o->place == DEVICE)
        CHECK(accl_memory_write(r->device, address_of(o), o->array, o->count * 4) == ACCL_OK);
    if (o->place == HOST)
        memcpy(accl_buffer_host(o->buffer), o->array, o->count * 4);
}

/* Fetches them. After a call whose data are at the host, the device has the same. */
static void get(const struct rank *r, const struct operand *o)
{
    if (o->place != ARRAY)
        CHECK(accl_memory_read(r->device, address_of(o), o->array, o->count * 4) == ACCL_OK);
    if (o->place == HOST)
        CHECK(memcmp(accl_buffer_host(o->buffer), o->array, o->count * 4) == 0);
}

static void check_one(const struct rank *r, uint32_t operation, uint64_t count, enum place from,
                      enum place to)
{
    struct operand source = make_operand(r, count * parts_read(operation), from);
    struct operand result = make_operand(r, count * parts_written(operation), to);
    for (uint64_t i = 0; i < source.count; i++)
        source.array[i] = number(r->rank, i);
    memset(result.array, 0, result.count * 4);

    struct accl_call call = make_call(operation, count, ACCL_FLOAT32);
    call.root_src_dst = ROOT;
    call.address[0] = address_of(&source);
    call.address[2] = address_of(&result);
    static const uint32_t source_flags[] = {[ARRAY] = ACCL_OP0_ARRAY, [HOST] = ACCL_OP0_SYNC};
    static const uint32_t result_flags[] = {[ARRAY] = ACCL_RES_ARRAY, [HOST] = ACCL_RES_SYNC};
    call.host_flags = source_flags[from] | result_flags[to];
    put(r, &source);
    CHECK(run_call(r, &call) == 0);

    struct operand *got = operation == ACCL_BCAST ? &source : &result;
    bool rooted = operation == ACCL_GATHER || operation == ACCL_REDUCE;
    if (!rooted || r->rank == ROOT) {
        get(r, got);
        for (uint64_t i = 0; i < got->count; i++)
            CHECK(got->array[i] == wanted(operation, r->rank, count, i));
    }
    if (operation != ACCL_BCAST && (operation != ACCL_SCATTER || r->rank == ROOT))
        get(r, &source);
    free_operand(&source);
    free_operand(&result);
}

static void check_refusals(const struct rank *r)
{
    float array[8] = {0};
    struct accl_call call = make_call(ACCL_ALLREDUCE, 4, ACCL_FLOAT32);
    call.host_flags = ACCL_OP0_ARRAY | ACCL_RES_ARRAY;
    call.address[2] = (uintptr_t)array;
    CHECK(run_call(r, &call) & ACCL_ERROR(DMA_DECODE_ERROR));
    CHECK(strstr(accl_error_message(), "there is no array"));
    call.address[0] = (uintptr_t)array + 1;
    CHECK(run_call(r, &call) & ACCL_ERROR(DMA_DECODE_ERROR));
    CHECK(strstr(accl_error_message(), "is not a multiple of 4"));
    call.address[0] = UINTPTR_MAX - 7;
    CHECK(run_call(r, &call) & ACCL_ERROR(DMA_DECODE_ERROR));
    CHECK(strstr(accl_error_message(), "there is no array"));
}

/* The root knows how long both ways to its array take, if it has a choice. */
static void check_times(const struct rank *r)
{
    enum { CALLS = 6, COUNT = 2 * WINDOW };
    for (int i = 0; i < CALLS; i++)
        check_one(r, ACCL_BCAST, COUNT, ARRAY, ARRAY);

    const struct array_ways *ways = &acclib_communicator_find(r->device, 0)->lanes->ways;
    const uint64_t *ns = ways->ns[63 - __builtin_clzll(COUNT * sizeof(float))];
    if (r->rank == ROOT && ways->call)
        CHECK(ns[0] && ns[1] && ns[0] < UINT64_C(60000000000) && ns[1] < UINT64_C(60000000000));
}

static void *body(void *argument)
{
    struct rank r;
    rank_open(&r, job, *(uint32_t *)argument, ranks, ACCL_MEMORY_SEPARATE, 16, 1024);
    set_timeout(&r, 60000);
    check_refusals(&r);

    static const uint64_t counts[] = {ROUND - 1, ROUND + 1, WINDOW, LARGEST};
    for (uint32_t operation = ACCL_BCAST; operation <= ACCL_ALLTOALL; operation++) {
        if (operation == ACCL_BARRIER)
            continue;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check_one(&r, operation, counts[i], ARRAY, ARRAY);
        check_one(&r, operation, ROUND + 1, r.rank ? DEVICE : ARRAY, r.rank ? ARRAY : DEVICE);
        check_one(&r, operation, WINDOW + 5, r.rank ? ARRAY : DEVICE, r.rank ? DEVICE : ARRAY);

        /* In a post, beyond it, and more than rx buffers hold. */
        check_one(&r, operation, 100, HOST, HOST);
        check_one(&r, operation, 2000, HOST, HOST);
        check_one(&r, operation, WINDOW + 5, HOST, HOST);
        check_one(&r, operation, ROUND + 1, r.rank ? HOST : ARRAY, r.rank ? ARRAY : HOST);
        check_one(&r, operation, WINDOW + 5, r.rank ? DEVICE : HOST, r.rank ? HOST : DEVICE);
    }

    check_times(&r);

    struct accl_call call = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(&r, &call) == 0);
    rank_close(&r);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    ranks = (uint32_t)atoi(argv[1]);
    CHECK(ranks > ROOT && ranks <= RANKS_MOST);
    CHECK(setenv("ACCL_PROCESS_MEMORY", argv[2], 1) == 0);
    snprintf(job, sizeof job, "arrays %d", (int)getpid());
    pthread_t threads[RANKS_MOST];
    uint32_t numbers[RANKS_MOST];
    for (uint32_t i = 0; i < ranks; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, body, &numbers[i]) == 0);
    }
    for (uint32_t i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
