/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * The order in which reductions add, and where compression rounds: bit by bit what the original's
 * ring gives. usage: rounding RANKS
 */
#include <math.h>

#include "ranks.h"

#define SEGMENT 1024
#define RANKS_MOST 8
#define COUNT_MOST 6000

static char job[64];

static float value_of(uint32_t rank, uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (rank + 7) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 29) * UINT64_C(0x94D049BB133111EB);
    if (x % 97 == 0)
        return rank % 2 ? -0.0F : NAN;
    return ((float)(x >> 40) / 65536.0F - 128.0F) * (x % 5 == 0 ? 1e-4F : 0.37F);
}

static float rounded(float x)
{
    return (float)(_Float16)x;
}

/* Unlike the original's: NaN if one is NaN, and -0 is less than +0. */
static float greater(float a, float b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static float combine(float a, float b, uint32_t function, int compressed)
{
    float result;
    switch (function) {
    case ACCL_MAX: result = greater(a, b); break;
    case ACCL_MIN: result = -greater(-a, -b); break;
    case ACCL_PROD: result = a * b; break;
    default: result = a + b; break;
    }
    return compressed ? rounded(result) : result;
}

/* The chain of element I from rank FIRST on. */
static float chain(uint32_t n, uint32_t first, uint64_t i, uint32_t function, int compressed)
{
    float acc = 0;
    for (uint32_t k = 0; k < n; k++) {
        float x = value_of((first + k) % n, i);
        if (compressed)
            x = rounded(x);
        acc = k ? combine(acc, x, function, compressed) : x;
    }
    return acc;
}

/* Returns the rank that starts the chain of element I of an allreduce of COUNT elements. */
static uint32_t starter(uint32_t n, uint64_t i, uint64_t count, int compressed)
{
    uint64_t segment = SEGMENT / (compressed ? 2U : 4U) / n * n;
    uint64_t start = i / segment * segment;
    uint64_t length = count - start < segment ? count - start : segment;
    uint64_t bulk = (length + n - 1) / n;
    return (uint32_t)((i - start) / bulk);
}

static float expected(const struct rank *r, const struct accl_call *c, uint64_t i, int compressed)
{
    uint32_t n = r->n, root = c->root_src_dst;
    float x;
    compressed = compressed && n > 1; /* one rank alone only copies */
    switch (c->operation) {
    case ACCL_REDUCE: return chain(n, (root + 1) % n, i, c->function, compressed);
    case ACCL_ALLREDUCE:
        return chain(n, starter(n, i, c->count, compressed), i, c->function, compressed);
    case ACCL_REDUCE_SCATTER:
        return chain(n, (r->rank + 1) % n, r->rank * c->count + i, c->function, compressed);
    case ACCL_BCAST: x = value_of(root, i); return compressed && r->rank != root ? rounded(x) : x;
    case ACCL_SCATTER:
        x = value_of(root, r->rank * c->count + i);
        return compressed && r->rank != root ? rounded(x) : x;
    default: /* the own part does not travel */
        x = value_of((uint32_t)(i / c->count), i % c->count);
        return compressed && i / c->count != r->rank ? rounded(x) : x;
    }
}

static int same_bits(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void one(const struct rank *r, accl_buffer *source, accl_buffer *result, uint64_t count,
                uint32_t operation, uint32_t root, uint32_t function, int compressed)
{
    struct accl_call call = make_call(operation, count, ACCL_FLOAT32);
    call.root_src_dst = root;
    call.function = function;
    call.address[0] = accl_buffer_address(operation == ACCL_BCAST ? result : source);
    call.address[2] = accl_buffer_address(result);
    if (compressed) {
        call.compressed_dtype = ACCL_FLOAT16;
        call.compression_flags = ACCL_ETH_COMPRESSED;
    }
    float *s = accl_buffer_host(source), *d = accl_buffer_host(result);
    for (uint64_t i = 0; i < count * r->n; i++)
        d[i] = s[i] = value_of(r->rank, i);
    CHECK(run_call(r, &call) == 0);
    int rooted = operation == ACCL_GATHER || operation == ACCL_REDUCE;
    uint64_t many = operation == ACCL_GATHER || operation == ACCL_ALLGATHER ? r->n : 1;
    for (uint64_t i = 0; i < count * many && (!rooted || r->rank == root); i++) {
        float want = expected(r, &call, i, compressed);
        if (same_bits(d[i], want))
            continue;
        fprintf(stderr,
                "rank %u/%u operation %u root %u function %u count %llu%s: [%llu] %a, not %a\n",
                r->rank, r->n, operation, root, function, (unsigned long long)count,
                compressed ? " compressed" : "", (unsigned long long)i, (double)d[i], (double)want);
        _Exit(1);
    }
}

static void body(uint32_t rank, uint32_t n)
{
    static const uint64_t counts[] = {1, 5, 700, COUNT_MOST};
    struct rank r;
    accl_buffer *source, *result;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 16, SEGMENT);
    set_timeout(&r, 20000);
    uint64_t bytes = (uint64_t)COUNT_MOST * n * 4;
    CHECK(accl_buffer_create(r.device, bytes, 0, 0, &source) == ACCL_OK);
    CHECK(accl_buffer_create(r.device, bytes, 0, 0, &result) == ACCL_OK);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (uint32_t operation = ACCL_BCAST; operation <= ACCL_REDUCE_SCATTER; operation++) {
            for (uint32_t i = 0; i < 8; i++)
                one(&r, source, result, counts[k], operation, (uint32_t)(k + i) % n, i / 2, i % 2);
        }
    }
    rank_close(&r);
    accl_buffer_free(source);
    accl_buffer_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    uint32_t n = (uint32_t)atoi(argv[1]);
    CHECK(n >= 1 && n <= RANKS_MOST);
    snprintf(job, sizeof job, "rounding %d", (int)getpid());
    run_ranks(n, body);
    puts("ok");
    return 0;
}
