/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Collectives whose operands are memory of the caller, or buffers at some ranks; ranks are threads.
 * usage: arrays RANKS auto|never
 */
#include <pthread.h>
#include <stdbool.h>

#include "ranks.h"

enum { RANKS_MOST = 6, ROUND = (128 << 10) / 4, WINDOW = 4 * ROUND, LARGEST = 2 * WINDOW + 77 };
#define ROOT 1U

static uint32_t ranks;
static char job[64];

struct operand {
    accl_buffer *buffer; /* NULL: an array */
    float *array;        /* or what is copied to and from the buffer */
    uint64_t count;
};

static struct operand make_operand(const struct rank *r, uint64_t count, bool is_array)
{
    struct operand o = {.count = count, .array = malloc(count * 4)};
    CHECK(o.array != NULL);
    if (!is_array)
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

static void check_one(const struct rank *r, uint32_t operation, uint64_t count, bool source_array,
                      bool result_array)
{
    struct operand source = make_operand(r, count * parts_read(operation), source_array);
    struct operand result = make_operand(r, count * parts_written(operation), result_array);
    for (uint64_t i = 0; i < source.count; i++)
        source.array[i] = number(r->rank, i);
    memset(result.array, 0, result.count * 4);

    struct accl_call call = make_call(operation, count, ACCL_FLOAT32);
    call.root_src_dst = ROOT;
    call.address[0] = address_of(&source);
    call.address[2] = address_of(&result);
    call.host_flags = (source_array ? ACCL_OP0_ARRAY : 0U) | (result_array ? ACCL_RES_ARRAY : 0U);
    if (source.buffer)
        CHECK(accl_memory_write(r->device, call.address[0], source.array, source.count * 4) ==
              ACCL_OK);
    CHECK(run_call(r, &call) == 0);

    struct operand *got = operation == ACCL_BCAST ? &source : &result;
    if (got->buffer)
        CHECK(accl_memory_read(r->device, address_of(got), got->array, got->count * 4) == ACCL_OK);
    bool rooted = operation == ACCL_GATHER || operation == ACCL_REDUCE;
    for (uint64_t i = 0; (!rooted || r->rank == ROOT) && i < got->count; i++)
        CHECK(got->array[i] == wanted(operation, r->rank, count, i));
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

static void *body(void *argument)
{
    struct rank r;
    rank_open(&r, job, *(uint32_t *)argument, ranks, ACCL_MEMORY_UNIFIED, 16, 1024);
    set_timeout(&r, 60000);
    check_refusals(&r);

    static const uint64_t counts[] = {ROUND - 1, ROUND + 1, WINDOW, LARGEST};
    for (uint32_t operation = ACCL_BCAST; operation <= ACCL_ALLTOALL; operation++) {
        if (operation == ACCL_BARRIER)
            continue;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check_one(&r, operation, counts[i], true, true);
        check_one(&r, operation, ROUND + 1, r.rank == 0, r.rank != 0);
        check_one(&r, operation, WINDOW + 5, r.rank != 0, r.rank == 0);
    }

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
