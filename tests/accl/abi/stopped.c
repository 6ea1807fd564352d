/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=acclib_lane_may_use,--wrap=acclib_convert_copies,--wrap=clock_gettime
 *
 * Rank 1 stops while it copies rank 0's data, for so long that rank 0 no longer waits for it: what
 * rank 0 frees afterwards, and what its call had for itself, is not given out again. Rank 0 fills
 * new buffers; rank 1 then copies what was there before, and writes to none of them.
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ranks.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/shm/lane_use.h"

enum { RANKS = 2, TIMEOUT_MS = 20, COUNT = 200000, BLOCKS = 12, LIMIT_S = 60 };
#define BYTES (sizeof(float) * RANKS * COUNT)

static char job[64];
static uint32_t my_rank;

static struct shared {
    _Atomic int stops;                   /* in the next copy */
    _Atomic int stopped, goes_on, ended; /* of rank 1's call */
} *shared;

/* Place of rank 0's data. SYNC: pages of the host, with copies on the device. */
enum where { BUFFER, IN_PLACE, ARRAY, STREAM, SYNC };

static const struct scenario {
    uint32_t operation;
    enum where where;
} *scenario;

/* --- a rank that stops, and time that flies meanwhile ----------------------------------------- */

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

static _Thread_local int64_t flown_ns;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
    int status = __real_clock_gettime(id, ts);
    if (my_rank == 0 && atomic_load(&shared->stopped) && !atomic_load(&shared->goes_on))
        flown_ns += 100000000;
    int64_t ns = ts->tv_nsec + flown_ns;
    ts->tv_sec += ns / 1000000000;
    ts->tv_nsec = ns % 1000000000;
    return status;
}

static void stop(void)
{
    int yes = 1;
    if (my_rank != 1 || !atomic_compare_exchange_strong(&shared->stops, &yes, 0))
        return;
    double begin = seconds();
    atomic_store(&shared->stopped, 1);
    while (!atomic_load(&shared->goes_on)) {
        CHECK(seconds() - begin < LIMIT_S);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

uint32_t __real_acclib_lane_may_use(accl_device *d, struct communicator *c, uint32_t i, uint64_t n);
uint32_t __wrap_acclib_lane_may_use(accl_device *d, struct communicator *c, uint32_t i, uint64_t n);
uint32_t __wrap_acclib_lane_may_use(accl_device *d, struct communicator *c, uint32_t i, uint64_t n)
{
    uint32_t bits = __real_acclib_lane_may_use(d, c, i, n);
    if (i == 0)
        stop();
    return bits;
}

void __real_acclib_convert_copies(const struct converted *made, const void *from, uint32_t f,
                                  bool v);
void __wrap_acclib_convert_copies(const struct converted *made, const void *from, uint32_t f,
                                  bool v);
void __wrap_acclib_convert_copies(const struct converted *made, const void *from, uint32_t f,
                                  bool v)
{
    if (scenario->operation == ACCL_SEND && made->n == COUNT)
        stop();
    __real_acclib_convert_copies(made, from, f, v);
}

/* --- the calls -------------------------------------------------------------------------------- */

static float value(uint32_t rank, uint64_t i)
{
    return (float)(rank * 1000 + i % 777);
}

static void fill(float *data, uint32_t rank)
{
    for (uint64_t i = 0; i < (uint64_t)RANKS * COUNT; i++)
        data[i] = value(rank, i);
}

/* Has data in many buffers, no larger than those of the call, until rank 1's call is over. */
static void reuse_memory(const struct rank *r)
{
    accl_buffer *blocks[BLOCKS];
    for (int k = 0; k < BLOCKS; k++) {
        CHECK(accl_buffer_create(r->device, COUNT * sizeof(float), ACCL_FLOAT32, 0, &blocks[k]) ==
              ACCL_OK);
        memset(accl_buffer_host(blocks[k]), 7, COUNT * sizeof(float));
    }
    atomic_store(&shared->goes_on, 1);
    double begin = seconds();
    while (!atomic_load(&shared->ended)) {
        CHECK(seconds() - begin < LIMIT_S);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    for (int k = 0; k < BLOCKS; k++) {
        const char *data = accl_buffer_host(blocks[k]);
        CHECK(data[0] == 7 && memcmp(data, data + 1, COUNT * sizeof(float) - 1) == 0);
        accl_buffer_free(blocks[k]);
    }
}

static struct accl_call call_of(const struct rank *r, accl_buffer *source, accl_buffer *result,
                                const float *array)
{
    struct accl_call call = make_call(scenario->operation, COUNT, ACCL_FLOAT32);
    call.address[0] = accl_buffer_address(source);
    call.address[2] = accl_buffer_address(scenario->where == IN_PLACE ? source : result);
    if (call.operation == ACCL_SEND) {
        call.operation = r->rank ? ACCL_RECV : ACCL_SEND;
        call.root_src_dst = 1 - r->rank;
    }
    if (scenario->where == ARRAY && r->rank == 0) {
        call.host_flags = ACCL_OP0_ARRAY;
        call.address[0] = (uintptr_t)array;
    }
    if (scenario->where == SYNC)
        call.host_flags = ACCL_OP0_SYNC | ACCL_RES_SYNC;
    if (scenario->where == STREAM && r->rank == 0) {
        CHECK(accl_stream_push(r->device, array, COUNT * 4) == ACCL_OK);
        call.stream_flags = ACCL_OP0_STREAM;
    }
    return call;
}

/* Rank 1 has rank 0's data, whatever rank 0 did with its memory. */
static void check_result(const float *result)
{
    uint64_t at =
        scenario->operation == ACCL_ALLTOALL || scenario->operation == ACCL_SCATTER ? COUNT : 0;
    for (uint64_t i = 0; i < COUNT; i++)
        if (result[i] != value(0, at + i)) {
            fprintf(stderr, "operation %u, data in %u: [%llu] is %g\n", scenario->operation,
                    scenario->where, (unsigned long long)i, (double)result[i]);
            _Exit(1);
        }
}

static void body(uint32_t rank, uint32_t n)
{
    struct rank r;
    my_rank = rank;
    rank_open(&r, job, rank, n,
              scenario->where == SYNC ? ACCL_MEMORY_SEPARATE : ACCL_MEMORY_UNIFIED, 4, 1024);
    accl_buffer *source, *result;
    float *array = malloc(BYTES);
    CHECK(array != NULL);
    CHECK(accl_buffer_create(r.device, BYTES, ACCL_FLOAT32, 0, &source) == ACCL_OK);
    CHECK(accl_buffer_create(r.device, BYTES, ACCL_FLOAT32, 0, &result) == ACCL_OK);
    fill(array, rank);
    fill(accl_buffer_host(source), rank);
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(&r, &barrier) == 0);
    CHECK(run_call(&r, &barrier) == 0);

    if (rank == 0)
        set_timeout(&r, TIMEOUT_MS);
    atomic_store(&shared->stops, 1);
    struct accl_call call = call_of(&r, source, result, array);
    uint32_t bits = run_call(&r, &call);
    if (rank == 1) {
        atomic_store(&shared->ended, 1);
        CHECK(bits == 0);
        bool in_source = scenario->where == IN_PLACE || scenario->operation == ACCL_BCAST;
        if (scenario->operation != ACCL_GATHER)
            check_result(accl_buffer_host(in_source ? source : result));
    }
    if (rank == 0) {
        CHECK(bits != 0 && atomic_load(&shared->stopped));
        CHECK(scenario->operation == ACCL_SEND || strstr(accl_error_message(), "still uses"));
    }
    accl_buffer_free(source);
    accl_buffer_free(result);
    if (rank == 0)
        reuse_memory(&r);
    rank_close(&r);
    free(array);
}

int main(void)
{
    static const struct scenario scenarios[] = {
        {ACCL_BCAST, BUFFER},      {ACCL_SCATTER, BUFFER}, {ACCL_ALLGATHER, BUFFER},
        {ACCL_ALLTOALL, IN_PLACE}, {ACCL_BCAST, ARRAY},    {ACCL_SEND, BUFFER},
        {ACCL_SEND, STREAM},       {ACCL_GATHER, BUFFER},  {ACCL_GATHER, SYNC},
        {ACCL_SCATTER, SYNC},      {ACCL_SEND, SYNC},
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);

    /* Ranks that share a core take arrays by way of memory of the call. */
    CHECK(setenv("ACCL_PROCESS_MEMORY", "never", 1) == 0);
    cpu_set_t one;
    CHECK(sched_getaffinity(0, sizeof one, &one) == 0);
    for (size_t i = 0, found = 0; i < CPU_SETSIZE; i++) {
        if (found)
            CPU_CLR(i, &one);
        found |= CPU_ISSET(i, &one) != 0;
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);

    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        memset(shared, 0, sizeof *shared);
        scenario = &scenarios[i];
        snprintf(job, sizeof job, "stopped %d %zu", (int)getpid(), i);
        run_ranks(RANKS, body);
    }
    puts("ok");
    return 0;
}
