/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=dlsym tsan
 *
 * Messages from one rank's memory into another's: that they are used, for sums too, and what
 * becomes of them if a receive, or the sender's call, ends too early.
 */
#include "tests/accl/unit/mpi_sides.h"

/* A message without packets between, and one that MPI has in its sender's memory. */
enum { COUNT = 50000 };
#define GOOD 0.25f
#define SPOILT 13.0f

static struct side sides[FAKE_RANKS];
static uint32_t limit_ms;

static uint64_t data_sent(void)
{
    pthread_mutex_lock(&fake.lock);
    uint64_t n = fake.data_sent;
    pthread_mutex_unlock(&fake.lock);
    return n;
}

static void hold_data(bool holds)
{
    pthread_mutex_lock(&fake.lock);
    fake.holds_data = holds;
    pthread_mutex_unlock(&fake.lock);
}

static void open_both(void)
{
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        sides[i] = (struct side){.rank = i, .mpi = setup_of(i, false, true)};
        open_side(&sides[i], ACCL_REACH_PACKETS);
        CHECK(accl_mpi_start(sides[i].device, &sides[i].mpi) == ACCL_OK);
        fill(&sides[i], GOOD);
    }
}

static void wait_for(accl_request *request, int status, uint32_t bits)
{
    int got = accl_request_wait(request, -1);
    if (got != status || (accl_request_retcode(request) & bits) != bits)
        fprintf(stderr, "status %d, bits %#x: %s\n", got, accl_request_retcode(request),
                accl_request_message(request));
    CHECK(got == status && (accl_request_retcode(request) & bits) == bits);
    accl_request_free(request);
}

/* The receive waits first. A sender that comes before it may send packets instead, so this is
 * repeated until one did not. */
static void test_a_receive_that_waits_gets_the_data_themselves(void)
{
    accl_request *request;
    uint64_t before = data_sent();
    open_both();
    while (data_sent() == before) {
        start(&sides[1], ACCL_RECV, COUNT, &request);
        run(&sides[0], ACCL_SEND, COUNT);
        wait_for(request, ACCL_OK, 0);
        check_result(&sides[1], COUNT, GOOD);
    }
    close_both(sides);
}

static bool worked(accl_request *request)
{
    bool ok = accl_request_wait(request, -1) == ACCL_OK;
    accl_request_free(request);
    return ok;
}

/*
 * Opens both sides, with time limits for those in LIMITED, and begins receives until one has been
 * told to the sender, whose message then holds. If a limit is over before that, as on a busy
 * machine, all begins again with twice as much.
 */
static void begin_transfer(uint32_t limited, accl_request **sending, accl_request **receiving)
{
    for (limit_ms = 200;; limit_ms *= 2) {
        uint64_t before = data_sent();
        open_both();
        hold_data(true);
        for (uint32_t i = 0; i < FAKE_RANKS; i++)
            if (limited >> i & 1)
                set_timeout(&sides[i], limit_ms);

        for (bool in_time = true; in_time;) {
            start(&sides[1], ACCL_RECV, COUNT, receiving);
            start(&sides[0], ACCL_SEND, COUNT, sending);
            while (data_sent() == before && accl_request_wait(*receiving, 1000000) == ACCL_PENDING)
                ;
            if (data_sent() > before)
                return;
            in_time = worked(*sending);
            in_time = worked(*receiving) && in_time;
        }

        hold_data(false);
        close_both(sides);
    }
}

/* Data that a sender that gave up has in its memory by then are not received, whatever MPI makes of
 * them; the next message is. */
static void test_a_sender_whose_time_is_over(void)
{
    accl_request *sending, *receiving;
    begin_transfer(1 << 0, &sending, &receiving);
    wait_for(sending, ACCL_CALL_FAILED, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    fill(&sides[0], SPOILT);
    hold_data(false);
    CHECK(accl_request_wait(receiving, 50000000) == ACCL_PENDING);

    set_timeout(&sides[0], 60000);
    fill(&sides[0], GOOD + 1);
    run(&sides[0], ACCL_SEND, COUNT);
    wait_for(receiving, ACCL_OK, 0);
    check_result(&sides[1], COUNT, GOOD + 1);
    close_both(sides);
}

/* A receive that ended before its message was announced lends nothing any more. */
static void test_a_receive_whose_time_is_over(void)
{
    accl_request *request;
    open_both();
    set_timeout(&sides[1], 50);
    start(&sides[1], ACCL_RECV, COUNT, &request);
    wait_for(request, ACCL_CALL_FAILED, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    float *result = accl_buffer_host(sides[1].result);
    memset(result, 0, MANY * sizeof *result);

    uint64_t before = data_sent();
    run(&sides[0], ACCL_SEND, COUNT);
    run(&sides[0], ACCL_SEND, 1);
    CHECK(data_sent() == before + 1);
    check_result(&sides[1], COUNT, 0);

    set_timeout(&sides[1], 60000);
    run(&sides[1], ACCL_RECV, COUNT);
    check_result(&sides[1], COUNT, GOOD);
    run(&sides[1], ACCL_RECV, 1);
    close_both(sides);
}

static void *release(void *argument)
{
    (void)argument;
    usleep(3000 * limit_ms);
    hold_data(false);
    return NULL;
}

/* One that ended while its data were on their way waits for them, and nothing is written later. */
static void test_data_that_are_late(void)
{
    accl_request *sending, *receiving;
    pthread_t other;
    begin_transfer(1 << 1, &sending, &receiving);
    CHECK(pthread_create(&other, NULL, release, NULL) == 0);
    wait_for(receiving, ACCL_CALL_FAILED, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    CHECK(pthread_join(other, NULL) == 0);
    float *result = accl_buffer_host(sides[1].result);
    memset(result, 0, MANY * sizeof *result);
    wait_for(sending, ACCL_OK, 0);
    check_result(&sides[1], COUNT, 0);
    close_both(sides);
}

/* If they do not come at all the peer counts as lost, and the memory is MPI's for good. */
static void test_data_that_never_come(void)
{
    accl_request *sending, *receiving, *next;
    begin_transfer(1 << 0 | 1 << 1, &sending, &receiving);
    wait_for(sending, ACCL_CALL_FAILED, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    wait_for(receiving, ACCL_CALL_FAILED, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    set_timeout(&sides[1], 60000);
    start(&sides[1], ACCL_RECV, 1, &next);
    wait_for(next, ACCL_CALL_FAILED, ACCL_ERROR(PEER_LOST_ERROR));

    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        CHECK(accl_mpi_stop(sides[i].device, 1000000) == ACCL_PENDING);
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        close_side(&sides[i]);
    hold_data(false);
}

/* A reduction of what both have, to member 0 or to both. */
static void start_sum(const struct side *side, uint32_t operation, bool in_place,
                      accl_request **request)
{
    struct accl_call call = call_of(side, operation, COUNT);
    call.root_src_dst = 0;
    if (in_place)
        call.address[2] = call.address[0];
    CHECK(accl_call_start(side->device, &call, NULL, 0, request) == ACCL_OK);
}

static void check_sum(const struct side *side, bool in_place)
{
    const float *got = accl_buffer_host(in_place ? side->source : side->result);
    for (uint64_t i = 0; i < COUNT; i++)
        CHECK(got[i] == 2 * GOOD);
}

/* Operands come without packets, whether or not the result has room for them. A
 * member that comes late may get packets, so this is repeated until one did not. */
static void test_operands_of_sums(uint32_t operation, bool in_place)
{
    uint64_t before = data_sent();
    open_both();
    while (data_sent() == before) {
        accl_request *requests[FAKE_RANKS];
        for (uint32_t i = 0; i < FAKE_RANKS; i++) {
            fill(&sides[i], GOOD);
            start_sum(&sides[i], operation, in_place, &requests[i]);
        }
        for (uint32_t i = 0; i < FAKE_RANKS; i++)
            wait_for(requests[i], ACCL_OK, 0);
        check_sum(&sides[0], in_place);
        if (operation != ACCL_REDUCE)
            check_sum(&sides[1], in_place);
    }
    close_both(sides);
}

int main(void)
{
    test_operands_of_sums(ACCL_REDUCE, false);
    test_operands_of_sums(ACCL_REDUCE, true);
    test_operands_of_sums(ACCL_ALLREDUCE, false);
    test_operands_of_sums(ACCL_ALLREDUCE, true);
    test_operands_of_sums(ACCL_REDUCE_SCATTER, false);
    test_a_receive_that_waits_gets_the_data_themselves();
    test_a_sender_whose_time_is_over();
    test_a_receive_whose_time_is_over();
    test_data_that_are_late();
    test_data_that_never_come();
    return 0;
}
