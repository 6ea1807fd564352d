/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Messages: sizes, order, tags, communicators, streams, time limits, dumps. usage: messages CASE
 */
#include <dirent.h>
#include <sched.h>

#include "ranks.h"

static char job[64];

static accl_buffer *floats(const struct rank *r, uint64_t count, float base)
{
    accl_buffer *b;
    CHECK(accl_buffer_create(r->device, count * 4, ACCL_FLOAT32, 0, &b) == ACCL_OK);
    float *p = accl_buffer_host(b);
    for (uint64_t i = 0; i < count; i++)
        p[i] = base + (float)i;
    CHECK(accl_buffer_sync_to_device(b, 0, count * 4) == ACCL_OK);
    return b;
}

static uint32_t message(const struct rank *r, uint32_t operation, accl_buffer *b, uint64_t count,
                        uint32_t other, uint32_t tag, uint32_t comm)
{
    struct accl_call call = make_call(operation, count, ACCL_FLOAT32);
    call.root_src_dst = other;
    call.tag = tag;
    call.comm = comm;
    call.address[operation == ACCL_SEND ? 0 : 2] = accl_buffer_address(b);
    uint32_t bits = run_call(r, &call);
    if (operation == ACCL_RECV)
        CHECK(accl_buffer_sync_from_device(b, 0, count * 4) == ACCL_OK);
    return bits;
}

static void expect(accl_buffer *b, uint64_t count, float base)
{
    const float *p = accl_buffer_host(b);
    for (uint64_t i = 0; i < count; i++)
        CHECK(p[i] == base + (float)i);
}

/* All send first, then all receive, as the original's programs do. */
static void ring(uint32_t rank, uint32_t n)
{
    static const uint64_t counts[] = {0, 1, 15, 16, 17, 18, 255, 256, 257, 1000, 4096};
    struct rank r;
    rank_open(&r, job, rank, n, ACCL_MEMORY_SEPARATE, 16, 1024);
    set_timeout(&r, 10000);
    for (int round = 0; round < 20; round++) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            accl_buffer *s = floats(&r, counts[k], (float)(rank * 1000));
            accl_buffer *d = floats(&r, counts[k], -1);
            uint32_t next = (rank + 1) % n, previous = (rank + n - 1) % n;
            CHECK(message(&r, ACCL_SEND, s, counts[k], next, (uint32_t)k, 0) == 0);
            CHECK(message(&r, ACCL_RECV, d, counts[k], previous, (uint32_t)k, 0) == 0);
            expect(d, counts[k], (float)(previous * 1000));
            accl_buffer_free(s);
            accl_buffer_free(d);
        }
    }
    rank_close(&r);
}

/* Larger than all rx buffers: straight from memory to memory. */
static void large(uint32_t rank, uint32_t n)
{
    struct rank r;
    uint64_t count = 300000;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 4, 1024);
    set_timeout(&r, 10000);
    for (int round = 0; round < 10; round++) {
        accl_buffer *b = floats(&r, count, rank == 0 ? 5 : 0);
        CHECK(message(&r, rank == 0 ? ACCL_SEND : ACCL_RECV, b, count, 1 - rank, 7, 0) == 0);
        expect(b, count, 5);
        accl_buffer_free(b);
    }
    rank_close(&r);
    (void)n;
}

/* The tag of rank 0's next message, as accl_next_tags() says it to rank 1. */
static void expect_tags(struct rank *r, uint32_t comm, int64_t tag)
{
    int64_t tags[2] = {-2, -2};
    CHECK(accl_next_tags(r->device, comm, tags, 2) == ACCL_OK);
    CHECK(tags[0] == tag && tags[1] == -1);
}

/* Two communicators of the same ranks: their messages do not mix, whatever the order. */
static void communicators(uint32_t rank, uint32_t n)
{
    struct rank r;
    const uint32_t both[] = {1, 0, 1};
    uint32_t a, b;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 16, 1024);
    set_timeout(&r, 10000);
    CHECK(accl_split_communicator(r.device, 0, both, 3, &a) == ACCL_OK && a == 1);
    CHECK(accl_split_communicator(r.device, 0, both, 3, &b) == ACCL_OK && b == 2);
    accl_buffer *x = floats(&r, 300, 1), *y = floats(&r, 300, 2), *z = floats(&r, 3, 3);
    if (rank == 0) {
        CHECK(message(&r, ACCL_SEND, x, 300, 1, 1, 0) == 0);
        CHECK(message(&r, ACCL_SEND, y, 300, 1, 1, a) == 0);
        CHECK(message(&r, ACCL_SEND, z, 3, 1, 1, b) == 0);
    } else {
        accl_buffer *d = floats(&r, 300, 0);
        CHECK(message(&r, ACCL_RECV, d, 3, 0, 1, b) == 0);
        expect(d, 3, 3);
        expect_tags(&r, 0, 1);
        expect_tags(&r, a, 1);
        expect_tags(&r, b, -1);
        CHECK(message(&r, ACCL_RECV, d, 300, 0, ACCL_TAG_ANY, a) == 0);
        expect(d, 300, 2);
        CHECK(message(&r, ACCL_RECV, d, 300, 0, 1, 0) == 0);
        expect(d, 300, 1);
        struct accl_rank ranks[2];
        CHECK(accl_communicator_ranks(r.device, 0, ranks, 2) == ACCL_OK);
        CHECK(ranks[0].inbound_sequence == 2); /* 1200 bytes are two segments */
        accl_buffer_free(d);
    }
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    barrier.comm = b;
    CHECK(run_call(&r, &barrier) == 0);
    rank_close(&r);
    accl_buffer_free(x);
    accl_buffer_free(y);
    accl_buffer_free(z);
}

/* A tag that does not match, and a length that does not. */
static void mismatch(uint32_t rank, uint32_t n)
{
    struct rank r;
    char text[4096];
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 4, 1024);
    set_timeout(&r, 300);
    accl_buffer *b = floats(&r, 1000, 0);
    if (rank == 0) {
        CHECK(message(&r, ACCL_SEND, b, 10, 1, 5, 0) == 0);
        CHECK(message(&r, ACCL_SEND, b, 300, 1, 6, 0) == 0);
        /* Two more fit; then there is no rx buffer left. */
        CHECK(message(&r, ACCL_SEND, b, 1, 1, 7, 0) == 0);
        CHECK(message(&r, ACCL_SEND, b, 1, 1, 7, 0) == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
        set_timeout(&r, 10000);
    } else {
        struct timespec ts = {.tv_sec = 1};
        nanosleep(&ts, NULL);
        double start = seconds();
        CHECK(message(&r, ACCL_RECV, b, 10, 0, 4, 0) == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
        CHECK(seconds() - start > 0.29 && seconds() - start < 3);
        CHECK(strstr(accl_error_message(), "rank 0 of communicator 0 with tag 4, sequence 0"));
        CHECK(strstr(accl_error_message(), "tag 5"));
        CHECK(strstr(accl_error_message(), "of 4 rx buffers"));
        size_t needed;
        CHECK(accl_dump_rx_buffers(r.device, text, sizeof text, &needed) == ACCL_OK);
        CHECK(needed < sizeof text && strstr(text, "RESERVED tag 5 length 40 source 0 sequence 0"));
        expect_tags(&r, 0, 5);
        int64_t none[3];
        CHECK(accl_next_tags(r.device, 0, none, 3) == ACCL_INVALID);
        CHECK(strstr(accl_error_message(), "communicator 0 has 2 ranks, not 3"));
        CHECK(accl_next_tags(r.device, 7, none, 2) == ACCL_NOT_FOUND);
        set_timeout(&r, 10000);
        CHECK(message(&r, ACCL_RECV, b, 10, 0, 5, 0) == 0);
        CHECK(message(&r, ACCL_RECV, b, 10, 0, 6, 0) == ACCL_ERROR(DMA_SIZE_ERROR));
        CHECK(message(&r, ACCL_RECV, b, 1, 0, ACCL_TAG_ANY, 0) == 0);
    }
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(&r, &barrier) == 0);
    accl_buffer_free(b);
    rank_close(&r);
    (void)n;
}

/* Put into the next rank's stream, loop back there, and come home. */
static void streams(uint32_t rank, uint32_t n)
{
    struct rank r;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 16, 1024);
    set_timeout(&r, 10000);
    for (uint64_t count = 1; count < 3000; count = count * 3 + 1) {
        accl_buffer *s = floats(&r, count, (float)rank), *d = floats(&r, count, -1);
        struct accl_call call = make_call(ACCL_SEND, count, ACCL_FLOAT32);
        call.root_src_dst = (rank + 1) % n;
        call.tag = 3;
        call.stream_flags = ACCL_RES_STREAM;
        call.address[0] = accl_buffer_address(s);
        CHECK(run_call(&r, &call) == 0);
        call.root_src_dst = (rank + n - 1) % n;
        call.tag = 5;
        call.stream_flags = ACCL_OP0_STREAM;
        call.address[0] = ACCL_NO_ADDRESS;
        CHECK(run_call(&r, &call) == 0);
        CHECK(message(&r, ACCL_RECV, d, count, (rank + 1) % n, 5, 0) == 0);
        expect(d, count, (float)rank);
        accl_buffer_free(s);
        accl_buffer_free(d);
    }
    rank_close(&r);
}

/* To the rank itself, and calls that depend on each other. */
static void chain(uint32_t rank, uint32_t n)
{
    struct rank r;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 4, 1024);
    set_timeout(&r, 10000);
    accl_buffer *s = floats(&r, 5000, 1), *d = floats(&r, 5000, 0), *e = floats(&r, 5000, 0);
    CHECK(message(&r, ACCL_SEND, s, 5000, rank, 1, 0) == 0);
    CHECK(message(&r, ACCL_RECV, d, 5000, rank, 1, 0) == 0);
    expect(d, 5000, 1);
    struct accl_call call = make_call(ACCL_ALLREDUCE, 5000, ACCL_FLOAT32);
    call.address[0] = accl_buffer_address(s);
    call.address[2] = accl_buffer_address(d);
    accl_request *first, *second, *third;
    CHECK(accl_call_start(r.device, &call, NULL, 0, &first) == ACCL_OK);
    call = make_call(ACCL_COPY, 5000, ACCL_FLOAT32);
    call.address[0] = accl_buffer_address(d);
    call.address[2] = accl_buffer_address(e);
    CHECK(accl_call_start(r.device, &call, &first, 1, &second) == ACCL_OK);
    accl_request_free(first);
    CHECK(accl_request_wait(second, -1) == ACCL_OK);
    const float *p = accl_buffer_host(e);
    for (int i = 0; i < 5000; i++)
        CHECK(p[i] == (float)n * (float)(i + 1));
    call.address[0] = 4;
    CHECK(accl_call_start(r.device, &call, NULL, 0, &first) == ACCL_OK);
    CHECK(accl_call_start(r.device, &call, &first, 1, &third) == ACCL_OK);
    CHECK(accl_request_wait(third, -1) == ACCL_CALL_FAILED);
    CHECK(accl_request_retcode(third) == ACCL_ERROR(DMA_DECODE_ERROR));
    CHECK(strstr(accl_request_message(third), "waits for failed"));
    accl_request_free(first);
    accl_request_free(second);
    accl_request_free(third);
    accl_buffer_free(s);
    accl_buffer_free(d);
    accl_buffer_free(e);
    rank_close(&r);
}

/* The state of a thread of this process, as in proc(5). */
static char thread_state(const char *tid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", tid);
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(line, sizeof line, file));
    fclose(file);
    const char *end = strrchr(line, ')');
    CHECK(end && end[1] == ' ');
    return end[2];
}

/* Until all other threads of the process sleep. */
static void wait_for_threads(void)
{
    char own[32];
    snprintf(own, sizeof own, "%d", (int)getpid());
    for (double deadline = seconds() + 30;;) {
        uint32_t others = 0, asleep = 0;
        DIR *folder = opendir("/proc/self/task");
        CHECK(folder);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0)
                continue;
            others++;
            asleep += thread_state(entry->d_name) == 'S';
        }
        closedir(folder);
        if (others > 0 && others == asleep)
            return;
        CHECK(seconds() < deadline);
        sched_yield();
    }
}

/* A forked child is refused, and may open a device of its own. gcc's libasan does not free its own
 * locks in the child, so no other thread may be inside malloc() at the fork; and it cannot look for
 * leaks there, as it takes the parent's threads for the child's: hence _exit(). */
static void forked(uint32_t rank, uint32_t n)
{
    struct rank r;
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    rank_open(&r, job, rank, n, ACCL_MEMORY_SEPARATE, 4, 1024);
    CHECK(run_call(&r, &barrier) == 0); /* nobody connects to the rank from here on */
    wait_for_threads();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct accl_call nop = make_call(ACCL_NOP, 0, 0);
        CHECK(accl_call_sync(r.device, &nop, NULL) == ACCL_FORKED);
        accl_close(r.device);
        struct rank own;
        char name[96];
        snprintf(name, sizeof name, "%s child %u", job, rank);
        rank_open(&own, name, 0, 1, ACCL_MEMORY_UNIFIED, 4, 1024);
        CHECK(run_call(&own, &nop) == 0);
        accl_close(own.device);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(run_call(&r, &barrier) == 0);
    rank_close(&r);
}

/* Opened again and again: a device of one round never meets one of another. */
static void again(uint32_t rank, uint32_t n)
{
    for (int round = 0; round < 15; round++) {
        struct rank r;
        rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 4, 1024);
        set_timeout(&r, 10000);
        accl_buffer *b = floats(&r, 10, (float)round);
        if (round % 3 != 2) {
            uint32_t operation = rank == 0 ? ACCL_SEND : ACCL_RECV;
            CHECK(message(&r, operation, b, 10, 1 - rank, 0, 0) == 0);
            expect(b, 10, (float)round);
        }
        accl_buffer_free(b);
        rank_close(&r);
    }
    (void)n;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t n;
        void (*body)(uint32_t, uint32_t);
    } cases[] = {
        {"ring", 3, ring},         {"large", 2, large},     {"communicators", 2, communicators},
        {"mismatch", 2, mismatch}, {"streams", 3, streams}, {"chain", 2, chain},
        {"forked", 2, forked},     {"again", 2, again}};
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]))
            continue;
        snprintf(job, sizeof job, "messages %d", (int)getpid());
        run_ranks(cases[i].n, cases[i].body);
        puts("ok");
        return 0;
    }
    return 2;
}
