/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Every operation with every type, root and a set of counts, on n processes, against results that
 * are computed here: all combinations, or for each operation, type and count one that is drawn, or
 * so much data that copies go past the caches. usage: collectives RANKS MODE full|large|SEED
 */
#include "ranks.h"

#define FUNCTIONS (ACCL_PROD + 1U)
/* After that many elements values repeat, those of all ranks and so their sums and products too. */
#define PERIOD 2135

static uint32_t mode;
static int full, is_large;
static uint64_t seed;
static char job[64];

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

/* True if the call that is made is a product. */
static int multiplies;

/* Small integers, exact in every type and in every order. */
static int value_of(uint32_t rank, uint64_t i)
{
    if (multiplies)
        return (i + rank) % 5 == 0 ? -2 : 1 + (int)((i * 3 + rank) % 7 / 4);
    return (int)((i * 7 + rank * 3 + i / 5) % 61) - 20;
}

static uint16_t half_of(int v)
{
    if (v == 0)
        return 0;
    unsigned sign = v < 0 ? 0x8000 : 0;
    unsigned u = (unsigned)(v < 0 ? -v : v);
    unsigned log = 31 - (unsigned)__builtin_clz(u);
    return (uint16_t)(sign | (log + 15) << 10 | ((u << (10 - log)) & 0x3FF));
}

static void put(void *at, uint32_t dtype, uint64_t i, int v)
{
    switch (dtype) {
    case ACCL_FLOAT16: ((uint16_t *)at)[i] = half_of(v); break;
    case ACCL_FLOAT32: ((float *)at)[i] = (float)v; break;
    case ACCL_FLOAT64: ((double *)at)[i] = v; break;
    case ACCL_INT32: ((int32_t *)at)[i] = v; break;
    default: ((int64_t *)at)[i] = v; break;
    }
}

static int same(const void *at, uint32_t dtype, uint64_t i, int v)
{
    switch (dtype) {
    case ACCL_FLOAT16: return ((const uint16_t *)at)[i] == half_of(v);
    case ACCL_FLOAT32: return ((const float *)at)[i] == (float)v;
    case ACCL_FLOAT64: return ((const double *)at)[i] == v;
    case ACCL_INT32: return ((const int32_t *)at)[i] == v;
    default: return ((const int64_t *)at)[i] == v;
    }
}

static int reduced(uint32_t n, uint32_t function, uint64_t i)
{
    int v = value_of(0, i);
    for (uint32_t k = 1; k < n; k++) {
        int x = value_of(k, i);
        switch (function) {
        case ACCL_MAX: v = x > v ? x : v; break;
        case ACCL_MIN: v = x < v ? x : v; break;
        case ACCL_PROD: v *= x; break;
        default: v += x; break;
        }
    }
    return v;
}

static const unsigned sizes[] = {0, 1, 2, 4, 8, 4, 8};

/* OWN_PLACE: a rank's own part is where it belongs in the larger of the two buffers. */
enum style { PLAIN, IN_PLACE, OWN_PLACE, ASYNC, COMPRESSED, STYLES };

static uint64_t first_period(uint64_t count)
{
    return count < PERIOD ? count : PERIOD;
}

static void fill(const accl_buffer *b, uint32_t dtype, uint64_t count, const struct rank *r)
{
    char *to = accl_buffer_host(b);
    for (uint64_t i = 0; i < first_period(count); i++)
        put(to, dtype, i, r ? value_of(r->rank, i) : 99);

    /* Copies of whole periods. */
    for (uint64_t done = PERIOD, more; done < count; done += more) {
        more = count - done < done ? count - done : done;
        memcpy(to + done * sizes[dtype], to, more * sizes[dtype]);
    }
}

/* Element I of a part of a result. */
static int expected(const struct rank *r, const struct accl_call *call, uint32_t part, uint64_t i)
{
    uint64_t own = r->rank * call->count + i;
    switch (call->operation) {
    case ACCL_BCAST: return value_of(call->root_src_dst, i);
    case ACCL_SCATTER: return value_of(call->root_src_dst, own);
    case ACCL_GATHER:
    case ACCL_ALLGATHER: return value_of(part, i);
    case ACCL_ALLTOALL: return value_of(part, own);
    case ACCL_REDUCE_SCATTER: return reduced(r->n, call->function, own);
    default: return reduced(r->n, call->function, i);
    }
}

static void check_part(const struct rank *r, const struct accl_call *call, enum style style,
                       const char *got, uint32_t part)
{
    uint32_t dtype = call->dtype;
    uint64_t count = call->count, first = first_period(count), bad = count;
    for (uint64_t i = first; i-- > 0;)
        if (!same(got, dtype, i, expected(r, call, part, i)))
            bad = i;

    size_t rest = (count - first) * sizes[dtype];
    if (bad == count && memcmp(got, got + first * sizes[dtype], rest) != 0)
        bad = first;
    if (bad == count)
        return;

    fprintf(stderr,
            "rank %u/%u: operation %u dtype %u root %u count %llu style %d: part %u [%llu%s]\n",
            r->rank, r->n, call->operation, dtype, call->root_src_dst, (unsigned long long)count,
            (int)style, part, (unsigned long long)bad, bad == first ? " or later" : "");
    _Exit(1);
}

static void one(const struct rank *r, uint32_t operation, uint32_t dtype, uint32_t root,
                uint32_t function, uint64_t count, enum style style)
{
    uint32_t n = r->n;
    multiplies = function == ACCL_PROD;
    int many_in =
        operation == ACCL_SCATTER || operation == ACCL_REDUCE_SCATTER || operation == ACCL_ALLTOALL;
    int many_out =
        operation == ACCL_GATHER || operation == ACCL_ALLGATHER || operation == ACCL_ALLTOALL;
    uint64_t in = count * (many_in ? n : 1), out = count * (many_out ? n : 1);
    uint64_t most = in > out ? in : out;
    accl_buffer *source, *result;
    CHECK(accl_buffer_create(r->device, most * sizes[dtype], dtype, 0, &source) == ACCL_OK);
    CHECK(accl_buffer_create(r->device, most * sizes[dtype], dtype, 0, &result) == ACCL_OK);
    if (operation == ACCL_BCAST || style == IN_PLACE) {
        accl_buffer_free(result);
        CHECK(accl_buffer_slice(source, 0, most * sizes[dtype], &result) == ACCL_OK);
    }
    uint64_t part = count * sizes[dtype];
    if (style == OWN_PLACE && many_out && !many_in) {
        accl_buffer_free(source);
        CHECK(accl_buffer_slice(result, r->rank * part, part, &source) == ACCL_OK);
    } else if (style == OWN_PLACE && many_in && !many_out) {
        accl_buffer_free(result);
        CHECK(accl_buffer_slice(source, r->rank * part, part, &result) == ACCL_OK);
    }
    uint64_t bytes = accl_buffer_bytes(result);
    fill(result, dtype, bytes / sizes[dtype], NULL);
    fill(source, dtype, in, r);
    CHECK(accl_buffer_sync_to_device(result, 0, bytes) == ACCL_OK);
    CHECK(accl_buffer_sync_to_device(source, 0, accl_buffer_bytes(source)) == ACCL_OK);
    struct accl_call call = make_call(operation, count, dtype);
    call.root_src_dst = root;
    call.function = function;
    call.address[0] = accl_buffer_address(source);
    call.address[2] = accl_buffer_address(result);
    if (style == COMPRESSED) {
        call.compressed_dtype = ACCL_FLOAT16;
        call.compression_flags = ACCL_ETH_COMPRESSED;
    }
    if (style == ASYNC) {
        accl_request *request;
        CHECK(accl_call_start(r->device, &call, NULL, 0, &request) == ACCL_OK);
        CHECK(accl_request_wait(request, -1) == ACCL_OK);
        accl_request_free(request);
    } else {
        CHECK(run_call(r, &call) == 0);
    }
    CHECK(accl_buffer_sync_from_device(result, 0, bytes) == ACCL_OK);
    const char *got = accl_buffer_host(result);
    int has_result = r->rank == root || (operation != ACCL_GATHER && operation != ACCL_REDUCE);
    for (uint32_t k = 0; has_result && k < (many_out ? n : 1); k++)
        check_part(r, &call, style, got + k * part, k);

    accl_buffer_free(source);
    accl_buffer_free(result);
}

/* All roots and functions of small counts, a drawn one of large ones. */
static void all_styles(const struct rank *r, uint32_t operation, uint32_t dtype, uint64_t count)
{
    uint32_t all = count < 10000 ? r->n * FUNCTIONS : 1;
    for (uint32_t i = 0; i < STYLES; i++) {
        uint32_t first = draw(r->n * FUNCTIONS);
        for (uint32_t k = first; k < first + all; k++)
            if (i != COMPRESSED || dtype == ACCL_FLOAT32)
                one(r, operation, dtype, k / FUNCTIONS % r->n, k % FUNCTIONS, count, (enum style)i);
    }
}

/* More than three eighths of a usual last cache. */
static void large(const struct rank *r)
{
    for (uint32_t operation = ACCL_BCAST; operation <= ACCL_ALLTOALL; operation++)
        for (uint32_t style = PLAIN; style <= OWN_PLACE && operation != ACCL_BARRIER; style++)
            one(r, operation, ACCL_FLOAT32, style % r->n, ACCL_SUM, 3300001, (enum style)style);
}

static void body(uint32_t rank, uint32_t n)
{
    static const uint64_t counts[] = {0, 1, 16, 21, 128, 4097, 100000, 1000000};
    size_t n_counts = sizeof counts / sizeof *counts - !full;
    struct rank r;
    rank_open(&r, job, rank, n, mode, 16, 1024);
    set_timeout(&r, 60000);
    if (is_large)
        large(&r);
    for (uint32_t operation = ACCL_BCAST; operation <= ACCL_ALLTOALL && !is_large; operation++) {
        if (operation == ACCL_BARRIER)
            continue;
        for (uint32_t dtype = ACCL_FLOAT16; dtype <= ACCL_INT64; dtype++) {
            for (size_t k = 0; k < n_counts; k++) {
                if (full) {
                    all_styles(&r, operation, dtype, counts[k]);
                    continue;
                }
                /* All ranks draw the same. */
                uint32_t style = draw(STYLES), root = draw(n), function = draw(FUNCTIONS);
                if (style == COMPRESSED && dtype != ACCL_FLOAT32)
                    style = PLAIN;
                if (counts[k] < 10000 || draw(3) == 0)
                    one(&r, operation, dtype, root, function, counts[k], (enum style)style);
            }
        }
        struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
        CHECK(run_call(&r, &barrier) == 0);
    }
    rank_close(&r);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    mode = (uint32_t)atoi(argv[2]);
    full = strcmp(argv[3], "full") == 0;
    is_large = strcmp(argv[3], "large") == 0;
    seed = (uint64_t)atoi(argv[3]);
    snprintf(job, sizeof job, "collectives %d", (int)getpid());
    run_ranks((uint32_t)atoi(argv[1]), body);
    puts("ok");
    return 0;
}
