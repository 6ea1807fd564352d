/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Ranks that need nothing from the others do not wait for them: all devices are in this process,
 * and one thread makes the calls of one rank after the other. usage: ahead
 */
#include "ranks.h"

#define RANKS 3
#define NBUFS 16
#define BUFSIZE 1024
#define COUNT_MOST (NBUFS * BUFSIZE / 4)
/* One more than any call uses. */
#define ELEMENTS (UINT64_C(1) * RANKS * (COUNT_MOST + 1) + 1)
#define TIME_LIMIT_MS 10000
#define SHORT_MS 30

struct device {
    struct rank r;
    accl_buffer *source, *result;
};

static char job[64];
static unsigned rounds;

static int32_t value_of(uint32_t rank, uint64_t i)
{
    return (int32_t)(i * 7 + rank * 1000 + rounds * 31);
}

static void open_all(struct device *devices, const char *name)
{
    snprintf(job, sizeof job, "ahead %d %s", (int)getpid(), name);
    for (uint32_t i = 0; i < RANKS; i++) {
        struct device *d = &devices[i];
        uint64_t bytes = 4 * ELEMENTS;
        rank_open(&d->r, job, i, RANKS, ACCL_MEMORY_UNIFIED, NBUFS, BUFSIZE);
        set_timeout(&d->r, TIME_LIMIT_MS);
        CHECK(accl_buffer_create(d->r.device, bytes, ACCL_INT32, 0, &d->source) == ACCL_OK);
        CHECK(accl_buffer_create(d->r.device, bytes, ACCL_INT32, 0, &d->result) == ACCL_OK);
    }
}

static void close_one(struct device *d)
{
    if (d->r.device == NULL)
        return;
    accl_buffer_free(d->source);
    accl_buffer_free(d->result);
    rank_close(&d->r);
    d->r.device = NULL;
}

/* The call of rank NUMBER in communicator COMM, which has the N devices. */
static void call(struct device *d, uint32_t operation, uint64_t count, uint32_t root, uint32_t comm,
                 uint32_t number)
{
    int32_t *source = accl_buffer_host(d->source), *result = accl_buffer_host(d->result);
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        source[i] = value_of(number, i);
        result[i] = -1;
    }

    struct accl_call c = make_call(operation, count, ACCL_INT32);
    c.root_src_dst = root;
    c.comm = comm;
    c.address[0] =
        accl_buffer_address(operation == ACCL_BCAST && number != root ? d->result : d->source);
    c.address[2] = accl_buffer_address(d->result);
    CHECK(run_call(&d->r, &c) == 0);

    /* It is the caller's again. */
    for (uint64_t i = 0; i < ELEMENTS; i++)
        source[i] = -2;
}

static void check(struct device *d, uint32_t operation, uint64_t count, uint32_t root, uint32_t n,
                  uint32_t number)
{
    const int32_t *result = accl_buffer_host(d->result);
    uint64_t elements = operation == ACCL_GATHER ? n * count : count;
    if (number == root && operation == ACCL_BCAST)
        elements = 0;
    if (number != root && operation == ACCL_GATHER)
        elements = 0;
    for (uint64_t i = 0; i < elements; i++) {
        int32_t want = value_of(root, i);
        if (operation == ACCL_SCATTER)
            want = value_of(root, number * count + i);
        else if (operation == ACCL_GATHER)
            want = value_of((uint32_t)(i / count), i % count);
        CHECK(result[i] == want);
    }
    CHECK(result[elements] == -1);
}

/* Of the N devices in COMM. With LEAVES those that come first close their devices. */
static void one(struct device *devices, uint32_t n, const uint32_t *comms, uint32_t operation,
                uint64_t count, uint32_t root, int leaves)
{
    rounds++;
    int root_first = operation != ACCL_GATHER;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t number = (root + (root_first ? k : k + 1)) % n;
        call(&devices[number], operation, count, root, comms[number], number);
        check(&devices[number], operation, count, root, n, number);
        if (leaves)
            close_one(&devices[number]);
    }
}

static const uint32_t operations[] = {ACCL_BCAST, ACCL_SCATTER, ACCL_GATHER};
static const uint64_t counts[] = {1, 32, 1016, 1017, 3000, COUNT_MOST};

/* The first collectives of devices, again and again. */
static void test_nobody_waits(void)
{
    static const uint32_t world[RANKS] = {0, 0, 0};
    struct device devices[RANKS];
    open_all(devices, "nobody waits");
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (uint32_t root = 0; root < RANKS; root++)
                one(devices, RANKS, world, operations[i], counts[k], root, 0);
    for (uint32_t i = 0; i < RANKS; i++)
        close_one(&devices[i]);
}

/* Several calls of a rank before the others make theirs. */
static void test_several_calls_ahead(void)
{
    struct device devices[RANKS];
    open_all(devices, "several");
    rounds++;
    for (uint32_t number = 0; number < RANKS; number++)
        for (uint32_t k = 0; k < 8; k++) {
            call(&devices[number], ACCL_BCAST, 2000 + k, 0, 0, number);
            check(&devices[number], ACCL_BCAST, 2000 + k, 0, RANKS, number);
        }
    for (uint32_t i = 0; i < RANKS; i++)
        close_one(&devices[i]);
}

/* The root's data are there although it has left, or the others have not made the communicator. */
static void test_first_ones_leave(void)
{
    static const uint32_t world[RANKS] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 1; k < sizeof counts / sizeof *counts; k += 2) {
            struct device devices[RANKS];
            char name[32];
            snprintf(name, sizeof name, "leave %zu %zu", i, k);
            open_all(devices, name);
            one(devices, RANKS, world, operations[i], counts[k], 1, 1);
        }
}

static void test_communicator_is_made_late(void)
{
    static const uint32_t members[] = {1, 2};
    struct device devices[RANKS];
    open_all(devices, "late");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        rounds++;
        for (uint32_t i = 0; i < 2; i++) {
            struct device *d = &devices[1 + i];
            uint32_t comm;
            CHECK(accl_split_communicator(d->r.device, 0, members, 2, &comm) == ACCL_OK);
            call(d, ACCL_BCAST, counts[k], 0, comm, i);
            check(d, ACCL_BCAST, counts[k], 0, 2, i);
        }
    }
    for (uint32_t i = 0; i < RANKS; i++)
        close_one(&devices[i]);
}

/* Data that the rx buffers do not hold are left for nobody: the call ends at the time limit. */
static void test_more_than_fits_is_waited_for(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct device devices[RANKS];
        open_all(devices, "more");
        struct device *first = &devices[operations[i] == ACCL_GATHER];
        struct accl_call c = make_call(operations[i], COUNT_MOST + 1, ACCL_INT32);
        c.address[0] = accl_buffer_address(first->source);
        c.address[2] = accl_buffer_address(first->result);
        set_timeout(&first->r, SHORT_MS);
        CHECK(run_call(&first->r, &c) & ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
        for (uint32_t k = 0; k < RANKS; k++)
            close_one(&devices[k]);
    }
}

int main(void)
{
    test_nobody_waits();
    test_more_than_fits_is_waited_for();
    test_several_calls_ahead();
    test_communicator_is_made_late();
    test_first_ones_leave();
    puts("ok");
    return 0;
}
