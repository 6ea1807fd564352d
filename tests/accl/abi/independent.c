/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Calls that do not depend on each other go on while others wait, and those that do keep their
 * order. usage: independent
 */
#include <pthread.h>

#include "ranks.h"

#define WORDS 64
#define LARGE 100000 /* elements: more than all rx buffers hold */

static char job[64];

struct place {
    accl_buffer *buffer;
    int32_t *data;
    uint64_t address;
};

static struct place place_of(const struct rank *r, uint64_t elements)
{
    struct place p;
    CHECK(accl_buffer_create(r->device, elements * 4, 0, ACCL_BUFFER_ZERO, &p.buffer) == ACCL_OK);
    p.data = accl_buffer_host(p.buffer);
    p.address = accl_buffer_address(p.buffer);
    return p;
}

static void fill(const struct place *p, uint64_t n, int32_t value)
{
    for (uint64_t i = 0; i < n; i++)
        p->data[i] = value + (int32_t)i;
}

static void check_filled(const struct place *p, uint64_t n, int32_t value)
{
    for (uint64_t i = 0; i < n; i++)
        CHECK(p->data[i] == value + (int32_t)i);
}

static struct accl_call message(uint32_t operation, uint32_t other, const struct place *p,
                                uint64_t count)
{
    struct accl_call call = make_call(operation, count, ACCL_INT32);
    call.root_src_dst = other;
    call.address[0] = call.address[2] = p->address;
    return call;
}

static accl_request *start(const struct rank *r, const struct accl_call *call)
{
    accl_request *request;
    CHECK(accl_call_start(r->device, call, NULL, 0, &request) == ACCL_OK);
    return request;
}

static void finish(accl_request *request)
{
    CHECK(accl_request_wait(request, -1) == ACCL_OK);
    accl_request_free(request);
}

static uint32_t second_communicator(const struct rank *r)
{
    uint32_t all[64], id;
    for (uint32_t i = 0; i < r->n; i++)
        all[i] = i;
    CHECK(accl_split_communicator(r->device, 0, all, r->n, &id) == ACCL_OK);
    return id;
}

/* A receive, then the send that the other rank's receive waits for. */
static void receive_first(const struct rank *r, uint64_t count)
{
    uint32_t other = 1 - r->rank;
    struct place in = place_of(r, count), out = place_of(r, count);
    fill(&out, count, (int32_t)(r->rank * 1000));
    struct accl_call receive = message(ACCL_RECV, other, &in, count);
    struct accl_call send = message(ACCL_SEND, other, &out, count);
    accl_request *request = start(r, &receive);
    CHECK(run_call(r, &send) == 0);
    finish(request);
    check_filled(&in, count, (int32_t)(other * 1000));
    accl_buffer_free(in.buffer);
    accl_buffer_free(out.buffer);
}

/* A receive on one communicator, a collective on another, and only then the send. */
static void receive_beside_collective(const struct rank *r, uint32_t operation)
{
    uint32_t other = 1 - r->rank, comm = second_communicator(r);
    struct place in = place_of(r, WORDS), out = place_of(r, WORDS), sum = place_of(r, WORDS);
    fill(&out, WORDS, 7);
    struct accl_call receive = message(ACCL_RECV, other, &in, WORDS);
    struct accl_call send = message(ACCL_SEND, other, &out, WORDS);
    struct accl_call collective = make_call(operation, WORDS, ACCL_INT32);
    collective.comm = comm;
    collective.address[0] = out.address;
    collective.address[2] = sum.address;
    accl_request *request = start(r, &receive);
    CHECK(run_call(r, &collective) == 0);
    CHECK(run_call(r, &send) == 0);
    finish(request);
    check_filled(&in, WORDS, 7);
    if (operation == ACCL_ALLREDUCE)
        CHECK(sum.data[0] == 14);
    accl_buffer_free(in.buffer);
    accl_buffer_free(out.buffer);
    accl_buffer_free(sum.buffer);
}

struct direction {
    const struct rank *r;
    struct accl_call call;
};

static void *run_direction(void *argument)
{
    const struct direction *d = argument;
    for (int i = 0; i < 20; i++)
        CHECK(run_call(d->r, &d->call) == 0);
    return NULL;
}

/* One thread sends, another receives, more than the rx buffers hold. */
static void two_threads(const struct rank *r)
{
    uint32_t other = 1 - r->rank;
    struct place in = place_of(r, LARGE), out = place_of(r, LARGE);
    fill(&out, LARGE, (int32_t)r->rank);
    struct direction sender = {r, message(ACCL_SEND, other, &out, LARGE)};
    struct direction receiver = {r, message(ACCL_RECV, other, &in, LARGE)};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_direction, &sender) == 0);
    run_direction(&receiver);
    pthread_join(thread, NULL);
    check_filled(&in, LARGE, (int32_t)other);
    accl_buffer_free(in.buffer);
    accl_buffer_free(out.buffer);
}

/* Messages of one communicator do not wait for a large one of another. */
static void message_behind_large_one(const struct rank *r)
{
    uint32_t other = 1 - r->rank, comm = second_communicator(r);
    struct place large = place_of(r, LARGE), small = place_of(r, WORDS);
    if (r->rank == 0) {
        fill(&large, LARGE, 3);
        fill(&small, WORDS, 5);
        struct accl_call first = message(ACCL_SEND, other, &large, LARGE);
        struct accl_call second = message(ACCL_SEND, other, &small, WORDS);
        second.comm = comm;
        accl_request *request = start(r, &first);
        /* More of them than the ring has entries. */
        for (int i = 0; i < 600; i++)
            CHECK(run_call(r, &second) == 0);
        finish(request);
    } else {
        struct accl_call first = message(ACCL_RECV, other, &small, WORDS);
        struct accl_call second = message(ACCL_RECV, other, &large, LARGE);
        first.comm = comm;
        for (int i = 0; i < 600; i++)
            CHECK(run_call(r, &first) == 0);
        check_filled(&small, WORDS, 5);
        CHECK(run_call(r, &second) == 0);
        check_filled(&large, LARGE, 3);
    }
    accl_buffer_free(large.buffer);
    accl_buffer_free(small.buffer);
}

/* Receives of different tags take their messages, whatever their order; one of any tag the first.
 */
static void tags(const struct rank *r)
{
    uint32_t other = 1 - r->rank;
    struct place a = place_of(r, WORDS), b = place_of(r, WORDS);
    fill(&a, WORDS, 100);
    fill(&b, WORDS, 200);
    struct accl_call calls[2];
    for (int any = 0; any < 2; any++) {
        uint32_t operation = r->rank == 0 ? ACCL_SEND : ACCL_RECV;
        calls[0] = message(operation, other, &a, WORDS);
        calls[1] = message(operation, other, &b, WORDS);
        calls[0].tag = 1;
        calls[1].tag = 2;
        if (r->rank == 0 && any) {
            /* The message fits both: it is for the receive that came first. */
            calls[0].tag = ACCL_TAG_ANY;
            CHECK(run_call(r, &calls[0]) == 0);
            CHECK(run_call(r, &calls[1]) == 0);
        } else if (r->rank == 0) {
            CHECK(run_call(r, &calls[1]) == 0);
            CHECK(run_call(r, &calls[0]) == 0);
        } else {
            memset(a.data, 0, WORDS * 4);
            memset(b.data, 0, WORDS * 4);
            accl_request *first = start(r, &calls[0]);
            accl_request *second = start(r, &calls[1]);
            finish(first);
            finish(second);
            check_filled(&a, WORDS, 100);
            check_filled(&b, WORDS, 200);
        }
    }
    accl_buffer_free(a.buffer);
    accl_buffer_free(b.buffer);
}

/* A call that reads what another one writes stays behind it, though the first one waits. */
static void memory_keeps_order(const struct rank *r)
{
    uint32_t other = 1 - r->rank;
    struct place a = place_of(r, WORDS), b = place_of(r, WORDS), c = place_of(r, WORDS);
    fill(&c, WORDS, 42);
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    barrier.comm = second_communicator(r);
    if (r->rank == 0) {
        struct accl_call receive = message(ACCL_RECV, other, &a, WORDS);
        struct accl_call copy = make_call(ACCL_COPY, WORDS, ACCL_INT32);
        copy.address[0] = a.address;
        copy.address[2] = b.address;
        accl_request *first = start(r, &receive), *second = start(r, &copy);
        CHECK(run_call(r, &barrier) == 0);
        finish(second);
        CHECK(accl_request_state(first) == ACCL_COMPLETED);
        accl_request_free(first);
        check_filled(&b, WORDS, 42);
    } else {
        struct accl_call send = message(ACCL_SEND, other, &c, WORDS);
        CHECK(run_call(r, &barrier) == 0);
        CHECK(run_call(r, &send) == 0);
    }
    accl_buffer_free(a.buffer);
    accl_buffer_free(b.buffer);
    accl_buffer_free(c.buffer);
}

/* A call that names another in waitfor begins after it. */
static void chain(const struct rank *r)
{
    uint32_t other = 1 - r->rank;
    struct place in = place_of(r, WORDS), out = place_of(r, WORDS);
    struct accl_call receive = message(ACCL_RECV, other, &in, WORDS);
    struct accl_call send = message(ACCL_SEND, other, &out, WORDS);
    if (r->rank == 0) {
        accl_request *first = start(r, &receive), *second;
        CHECK(accl_call_start(r->device, &send, &first, 1, &second) == ACCL_OK);
        CHECK(accl_request_wait(second, -1) == ACCL_OK);
        CHECK(accl_request_wait(first, 0) == ACCL_OK);
        accl_request_free(first);
        accl_request_free(second);
    } else {
        CHECK(run_call(r, &send) == 0);
        CHECK(run_call(r, &receive) == 0);
    }
    accl_buffer_free(in.buffer);
    accl_buffer_free(out.buffer);
}

/* A message to itself, received before it is sent. */
static void to_itself(const struct rank *r)
{
    struct place in = place_of(r, WORDS), out = place_of(r, WORDS);
    fill(&out, WORDS, 9);
    struct accl_call receive = message(ACCL_RECV, r->rank, &in, WORDS);
    struct accl_call send = message(ACCL_SEND, r->rank, &out, WORDS);
    accl_request *request = start(r, &receive);
    CHECK(run_call(r, &send) == 0);
    finish(request);
    check_filled(&in, WORDS, 9);
    accl_buffer_free(in.buffer);
    accl_buffer_free(out.buffer);
}

static void body(uint32_t rank, uint32_t n)
{
    struct rank r;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 8, 4096);
    set_timeout(&r, 20000);
    receive_first(&r, WORDS);
    receive_first(&r, LARGE);
    receive_beside_collective(&r, ACCL_ALLREDUCE);
    receive_beside_collective(&r, ACCL_BARRIER);
    two_threads(&r);
    message_behind_large_one(&r);
    tags(&r);
    memory_keeps_order(&r);
    chain(&r);
    to_itself(&r);
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(&r, &barrier) == 0);
    rank_close(&r);
}

int main(void)
{
    snprintf(job, sizeof job, "independent %d", (int)getpid());
    run_ranks(2, body);
    puts("ok");
    return 0;
}
