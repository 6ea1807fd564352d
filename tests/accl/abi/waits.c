/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Every wait ends: by the caller's check, at its time limit, when the device is closed. Two ranks
 * of one process; rank 1 is not there at first, then it is there and does nothing. usage: waits
 */
#include "ranks.h"

enum { BREAK_OFF, TIME_OUT };

static char job[64];
static _Atomic int asked;

static int refuse(void *argument)
{
    atomic_fetch_add(&asked, 1);
    return *(int *)argument;
}

struct wait_case {
    const char *name;
    uint32_t operation, stream_flags, comm;
    uint64_t count;
    uint32_t bits; /* one of them at the time limit */
};

#define UNREACHED ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED)
static const struct wait_case cases[] = {
    {"recv", ACCL_RECV, 0, 0, 10, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR)},
    {"send", ACCL_SEND, 0, 0, 5000, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) | UNREACHED},
    {"stream", ACCL_COPY, ACCL_OP0_STREAM, 0, 10, ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR)},
    {"barrier", ACCL_BARRIER, 0, 1, 0, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | UNREACHED},
    {"bcast", ACCL_BCAST, 0, 2, 10, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | UNREACHED},
    {"allreduce", ACCL_ALLREDUCE, 0, 3, 5000, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | UNREACHED},
    {"alltoall", ACCL_ALLTOALL, 0, 4, 2000, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | UNREACHED},
};
#define CASES (sizeof cases / sizeof *cases)

static struct accl_call call_of(const struct wait_case *c, const accl_buffer *b, uint32_t comm)
{
    struct accl_call call = make_call(c->operation, c->count, ACCL_FLOAT32);
    call.root_src_dst = 1;
    call.stream_flags = c->stream_flags;
    call.comm = comm;
    call.address[0] = call.address[2] = accl_buffer_address(b);
    return call;
}

/* The cases on communicators of their own: one that failed is no longer of use. */
static void all_end(struct rank *r, const accl_buffer *b, uint32_t first_comm, int how)
{
    static int yes = 1, no = 0;
    set_timeout(r, how == TIME_OUT ? 150 : 60000);
    accl_set_interrupt_check(r->device, refuse, how == BREAK_OFF ? &yes : &no);
    for (size_t i = 0; i < CASES; i++) {
        struct accl_call call =
            call_of(&cases[i], b, cases[i].comm ? first_comm + cases[i].comm : 0);
        double start = seconds();
        uint32_t bits = run_call(r, &call);
        double took = seconds() - start;
        if (how == BREAK_OFF ? bits != ACCL_ERROR(INTERRUPTED_ERROR) : !(bits & cases[i].bits)) {
            fprintf(stderr, "%s, %d: bits 0x%x: %s\n", cases[i].name, how, bits,
                    accl_error_message());
            _Exit(1);
        }
        CHECK(accl_error_message()[0]);
        CHECK(took < 2 && (how == BREAK_OFF || took > 0.14));
        if (cases[i].comm) /* it is out of step with the others */
            CHECK(run_call(r, &call) == ACCL_ERROR(PEER_GAVE_UP_ERROR));
    }
    CHECK(atomic_load(&asked) > 0);
    accl_set_interrupt_check(r->device, NULL, NULL);
}

/* A fence behind an asynchronous call that waits. */
static void queued(struct rank *r, const accl_buffer *b)
{
    static int yes = 1;
    accl_request *request;
    set_timeout(r, 500);
    struct accl_call call = call_of(&cases[0], b, 0), nop = make_call(ACCL_NOP, 0, 0);
    CHECK(accl_call_start(r->device, &call, NULL, 0, &request) == ACCL_OK);
    accl_set_interrupt_check(r->device, refuse, &yes);
    CHECK(run_call(r, &nop) == ACCL_ERROR(INTERRUPTED_ERROR));
    /* Questions are answered meanwhile. */
    uint32_t word = 7;
    char text[64] = "";
    size_t needed = 0;
    CHECK(accl_exchange_read(r->device, ACCL_EXCHANGE_HWID, &word) == ACCL_OK && word != 7);
    CHECK(accl_exchange_write(r->device, 0, 1) == ACCL_OK);
    CHECK(accl_dump_rx_buffers(r->device, text, sizeof text, &needed) == ACCL_OK);
    CHECK(text[0] != 0 && needed > 0);
    CHECK(accl_request_state(request) != ACCL_COMPLETED);
    accl_set_interrupt_check(r->device, NULL, NULL);
    CHECK(run_call(r, &nop) == 0);
    CHECK(accl_request_wait(request, 0) == ACCL_CALL_FAILED);
    CHECK(accl_request_retcode(request) & ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    accl_request_free(request);
}

static uint32_t split_many(const struct rank *r, int n)
{
    const uint32_t both[] = {0, 1};
    uint32_t id = 0;
    for (int i = 0; i < n; i++)
        CHECK(accl_split_communicator(r->device, 0, both, 2, &id) == ACCL_OK);
    return id - (uint32_t)n;
}

int main(void)
{
    struct rank r, other;
    accl_buffer *b;
    accl_request *waiting;
    snprintf(job, sizeof job, "waits %d", (int)getpid());
    if (by_packets())
        pump_connect(2);
    rank_open(&r, job, 0, 2, ACCL_MEMORY_UNIFIED, 4, 1024);
    CHECK(accl_buffer_create(r.device, 40000, 0, ACCL_BUFFER_ZERO, &b) == ACCL_OK);
    all_end(&r, b, split_many(&r, 4), BREAK_OFF);
    all_end(&r, b, split_many(&r, 4), TIME_OUT);
    queued(&r, b);
    rank_open(&other, job, 1, 2, ACCL_MEMORY_UNIFIED, 4, 1024);
    split_many(&other, 16);
    all_end(&r, b, split_many(&r, 4), BREAK_OFF);
    all_end(&r, b, split_many(&r, 4), TIME_OUT);
    /* A call that waits ends when its device is closed. */
    set_timeout(&r, 60000);
    struct accl_call call = call_of(&cases[0], b, 0);
    CHECK(accl_call_start(r.device, &call, NULL, 0, &waiting) == ACCL_OK);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    double start = seconds();
    rank_close(&r);
    CHECK(seconds() - start < 1);
    CHECK(accl_request_wait(waiting, 0) == ACCL_CALL_FAILED);
    CHECK(accl_request_retcode(waiting) == ACCL_ERROR(INTERRUPTED_ERROR));
    accl_request_free(waiting);
    /* And the other rank is told that this one left. */
    accl_buffer *c;
    CHECK(accl_buffer_create(other.device, 40000, 0, ACCL_BUFFER_ZERO, &c) == ACCL_OK);
    call = call_of(&cases[0], c, 0);
    call.root_src_dst = 0;
    uint32_t bits = run_call(&other, &call);
    CHECK(bits == ACCL_ERROR(PEER_LOST_ERROR));
    rank_close(&other);
    accl_buffer_free(b);
    accl_buffer_free(c);
    puts("ok");
    return 0;
}
