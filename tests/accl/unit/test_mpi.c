/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=dlsym tsan
 *
 * The engine carries its packets by an MPI library: with handles of both kinds, at both levels of
 * threads, after failures, and with libraries and statuses that are other than was said.
 */
#include "accl.h"

#include <time.h>

#include "accl/transport/packets/packet_format.h"
#include "common/clock.h"
#include "tests/accl/unit/mpi_sides.h"

static void *be_rank(void *argument)
{
    struct side *side = argument;
    accl_request *request = NULL;
    open_side(side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side->device, &side->mpi) == ACCL_OK);
    CHECK(accl_mpi_start(side->device, &side->mpi) == ACCL_IN_USE);
    struct accl_packet packet = {.size = sizeof packet};
    CHECK(accl_packet_next(side->device, &packet) == ACCL_IN_USE);

    fill(side, (float)(side->rank + 1));
    run(side, ACCL_BARRIER, 0);
    for (uint64_t count = 1; count <= MANY; count *= 10) {
        run(side, ACCL_ALLREDUCE, count);
        check_result(side, count, 3);
        if (side->rank == 1)
            run(side, ACCL_RECV, count);
        start(side, ACCL_SEND, count, &request);
        CHECK(accl_request_wait(request, -1) == ACCL_OK);
        accl_request_free(request);
        if (side->rank == 0)
            run(side, ACCL_RECV, count);
        check_result(side, count, (float)(2 - side->rank));
    }
    run(side, ACCL_BARRIER, 0);

    CHECK(accl_mpi_stop(side->device, INT64_C(60000000000)) == ACCL_OK);
    CHECK(accl_mpi_stop(side->device, 0) == ACCL_OK);
    struct accl_call late = call_of(side, ACCL_BARRIER, 0);
    uint32_t retcode;
    CHECK(accl_call_sync(side->device, &late, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode & ACCL_ERROR(PEER_LOST_ERROR));
    close_side(side);

    return NULL;
}

static void test_two_ranks(bool pointers, bool any_thread, bool together)
{
    struct side sides[FAKE_RANKS] = {{.rank = 0, .together = together},
                                     {.rank = 1, .together = together}};
    pthread_t threads[FAKE_RANKS];
    fake_symbols = pointers ? of_pointer_symbols : of_int_symbols;
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        sides[i].mpi = setup_of(i, pointers, any_thread);
        CHECK(pthread_create(&threads[i], NULL, be_rank, &sides[i]) == 0);
    }
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    check_nothing_is_left();
}

static bool has_message_for(int rank)
{
    bool found = false;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; !found && i < FAKE_MESSAGES; i++)
        found = fake.messages[i].used && fake.messages[i].to == rank;
    pthread_mutex_unlock(&fake.lock);
    return found;
}

static void *send_one(void *argument)
{
    const struct side *side = argument;
    run(side, ACCL_BARRIER, 0);
    run(side, ACCL_SEND, 1);
    return NULL;
}

/* The engine's thread leaves packets to calls that follow one another, and takes those that come
 * when there are no more calls. */
static void test_packets_move_while_the_program_computes(void)
{
    struct side sides[FAKE_RANKS] = {{.rank = 0}, {.rank = 1}};
    pthread_t sender;
    fake_symbols = of_int_symbols;
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        sides[i].mpi = setup_of(i, false, true);
        open_side(&sides[i], ACCL_REACH_PACKETS);
        CHECK(accl_mpi_start(sides[i].device, &sides[i].mpi) == ACCL_OK);
        fill(&sides[i], 3);
    }
    CHECK(pthread_create(&sender, NULL, send_one, &sides[0]) == 0);
    run(&sides[1], ACCL_BARRIER, 0);
    CHECK(pthread_join(sender, NULL) == 0);

    int64_t deadline = clock_now() + 20 * CLOCK_SECOND;
    while (has_message_for(1) && clock_now() < deadline)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(!has_message_for(1));
    run(&sides[1], ACCL_RECV, 1);
    check_result(&sides[1], 1, 3);

    close_both(sides);
}

static void expect_failure(const struct side *side, const struct accl_mpi *mpi, int status,
                           const char *text)
{
    int got = accl_mpi_start(side->device, mpi);
    if (got != status || strstr(accl_error_message(), text) == NULL)
        fprintf(stderr, "status %d: %s\n", got, accl_error_message());
    CHECK(got == status && strstr(accl_error_message(), text) != NULL);
}

static void test_wrong_setups(void)
{
    struct side side = {.rank = 0};
    const struct accl_mpi good = setup_of(0, false, true);
    struct accl_mpi mpi;
    open_side(&side, ACCL_REACH_PACKETS);

    CHECK(accl_mpi_start(side.device, NULL) == ACCL_INVALID);
    mpi = good;
    mpi.size = 8;
    expect_failure(&side, &mpi, ACCL_INVALID, "struct accl_mpi has 8 bytes");
    mpi = good;
    mpi.library = NULL;
    expect_failure(&side, &mpi, ACCL_INVALID, "library must not be NULL");
    mpi.library = "/no/such/library.so";
    expect_failure(&side, &mpi, ACCL_NOT_FOUND, "/no/such/library.so is not loaded");
    mpi = good;
    mpi.handle_bytes = 2;
    expect_failure(&side, &mpi, ACCL_UNSUPPORTED, "handles of 2 bytes");
    mpi = good;
    mpi.status_tag = FAKE_STATUS_BYTES;
    expect_failure(&side, &mpi, ACCL_UNSUPPORTED, "MPI_Status of 24 bytes");
    mpi = good;
    mpi.status_bytes = 1000;
    expect_failure(&side, &mpi, ACCL_UNSUPPORTED, "MPI_Status of 1000 bytes");
    mpi = good;
    mpi.comm = FAKE_COMM + 1;
    expect_failure(&side, &mpi, ACCL_INVALID, "the MPI communicator has 2 ranks");
    fake.missing = "MPI_Iprobe";
    expect_failure(&side, &good, ACCL_UNSUPPORTED, "has no MPI_Iprobe");
    mpi = good;
    set_reductions(&mpi, 0);
    fake.missing = "MPI_Iallreduce";
    expect_failure(&side, &mpi, ACCL_UNSUPPORTED, "has no MPI_Iallreduce");
    fake.missing = NULL;
    fake.failing_probes = 1;
    expect_failure(&side, &good, ACCL_UNSUPPORTED, "MPI error: planted 17");
    memset(fake.messages, 0, sizeof fake.messages);
    mpi = good;
    mpi.status_source = FAKE_TAG_AT;
    expect_failure(&side, &mpi, ACCL_UNSUPPORTED, "a status has other fields");

    memset(fake.messages, 0, sizeof fake.messages);
    CHECK(accl_mpi_stop(side.device, 0) == ACCL_OK);
    close_side(&side);
}

static void test_shared_memory_needs_no_mpi(void)
{
    struct side side = {.rank = 0};
    struct accl_mpi mpi = setup_of(0, false, true);
    open_side(&side, ACCL_REACH_SHARED);
    CHECK(accl_mpi_start(side.device, &mpi) == ACCL_NOT_READY);
    CHECK(accl_mpi_stop(side.device, 0) == ACCL_NOT_READY);
    close_side(&side);
}

/* Errors of MPI end calls; the peer never comes, so stopping leaves messages to MPI. */
static void test_failure_of_mpi_ends_calls(void)
{
    struct side side = {.rank = 0};
    struct accl_mpi mpi = setup_of(0, false, false);
    fake_symbols = of_int_symbols;
    uint32_t retcode;
    open_side(&side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side.device, &mpi) == ACCL_OK);

    pthread_mutex_lock(&fake.lock);
    fake.failing_tests = 1;
    pthread_mutex_unlock(&fake.lock);
    struct accl_call call = call_of(&side, ACCL_BARRIER, 0);
    CHECK(accl_call_sync(side.device, &call, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode & ACCL_ERROR(PEER_LOST_ERROR));
    CHECK(strstr(accl_error_message(), "MPI error: planted 17") != NULL);
    CHECK(accl_mpi_stop(side.device, 1000000) == ACCL_PENDING);
    CHECK(accl_mpi_stop(side.device, 1000000) == ACCL_PENDING);
    close_side(&side);
    memset(fake.messages, 0, sizeof fake.messages);
}

static void expect_peer_lost(const struct side *side, const char *text)
{
    uint32_t retcode;
    struct accl_call call = call_of(side, ACCL_BARRIER, 0);
    CHECK(accl_call_sync(side->device, &call, &retcode) == ACCL_CALL_FAILED);
    if (strstr(accl_error_message(), text) == NULL)
        fprintf(stderr, "%s\n", accl_error_message());
    CHECK(retcode & ACCL_ERROR(PEER_LOST_ERROR));
    CHECK(strstr(accl_error_message(), text) != NULL);
}

/* Rank 1 is messages that this test writes. */
static void test_messages_that_are_no_packets(void)
{
    const uint64_t lengths[] = {0, 3072, 65536, UINT64_C(1) << 40};
    fake_symbols = of_int_symbols;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct side side = {.rank = 0};
        struct accl_mpi mpi = setup_of(0, false, false);
        open_side(&side, ACCL_REACH_PACKETS);
        CHECK(accl_mpi_start(side.device, &mpi) == ACCL_OK);
        fake_isend(&lengths[i], sizeof lengths[i], 1, 0, FAKE_PACKET);
        expect_peer_lost(&side, "it announced a packet of an invalid length");
        CHECK(accl_mpi_stop(side.device, 1000000) == ACCL_PENDING);
        close_side(&side);
        memset(fake.messages, 0, sizeof fake.messages);
    }
}

/* The first packet of this rank: with the same key that of the other one is accepted. */
static struct packet_header greeting(void)
{
    struct packet_header h = {.kind = 0};
    for (int i = 0; i < FAKE_MESSAGES; i++)
        if (fake.messages[i].used && fake.messages[i].to == 1)
            memcpy(&h, fake.messages[i].data, sizeof h);
    CHECK(h.kind == PACKET_HELLO);
    return h;
}

static void send_packet(struct packet_header h, const float *data)
{
    uint8_t packet[FAKE_EAGER];
    h.from = 1;
    memcpy(packet, &h, sizeof h);
    if (h.payload)
        memcpy(packet + sizeof h, data, h.payload);
    fake_isend(packet, (int)(sizeof h + h.payload), 1, 0, FAKE_PACKET);
}

/* Rank 1 is packets that this test writes: messages that are here when their receive is called, in
 * and out of the order of the calls, and one that no rank would send. */
static void test_messages_that_are_here(void)
{
    struct side side = {.rank = 0};
    struct accl_mpi mpi = setup_of(0, false, false);
    fake_symbols = of_int_symbols;
    open_side(&side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side.device, &mpi) == ACCL_OK);

    struct accl_communicator_info info = {.size = sizeof info};
    CHECK(accl_communicator_info(side.device, 0, &info) == ACCL_OK);
    struct packet_header h = greeting();
    send_packet(h, NULL);
    h.kind = PACKET_EAGER;
    h.wire_type = ACCL_FLOAT32;
    h.key = info.key;
    h.segments = h.numbers = 1;
    h.tag = TAG;
    for (uint64_t count = 1; count <= 100; count *= 10) {
        const float values[100] = {(float)count, 0};
        h.id++;
        h.total = h.payload = (uint32_t)count * 4;
        send_packet(h, values);
        run(&side, ACCL_RECV, count);
        CHECK(*(const float *)accl_buffer_host(side.result) == (float)count);
    }

    /* Several before the first receive, of which one has another length than its receive. */
    for (uint64_t count = 1; count <= 4; count++) {
        const float values[4] = {(float)(10 * count), 0};
        h.id++;
        h.total = h.payload = (uint32_t)count * 4;
        send_packet(h, values);
    }
    run(&side, ACCL_RECV, 1);
    struct accl_call longer = call_of(&side, ACCL_RECV, 3);
    uint32_t retcode;
    CHECK(accl_call_sync(side.device, &longer, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode == ACCL_ERROR(DMA_SIZE_ERROR));
    run(&side, ACCL_RECV, 3);
    CHECK(*(const float *)accl_buffer_host(side.result) == 30);
    run(&side, ACCL_RECV, 4);
    CHECK(*(const float *)accl_buffer_host(side.result) == 40);

    h.id += 2;
    send_packet(h, (const float[4]){0});
    struct accl_call receive = call_of(&side, ACCL_RECV, 4);
    CHECK(accl_call_sync(side.device, &receive, &retcode) == ACCL_CALL_FAILED);
    CHECK(retcode & ACCL_ERROR(PEER_LOST_ERROR));
    CHECK(strstr(accl_error_message(), "it sent a packet with a message out of order") != NULL);
    CHECK(accl_mpi_stop(side.device, 1000000) == ACCL_PENDING);
    close_side(&side);
    memset(fake.messages, 0, sizeof fake.messages);
}

/* The receives that wait for packets are taken back. */
static void test_stop_without_the_peer(void)
{
    struct side side = {.rank = 0};
    struct accl_mpi mpi = setup_of(0, true, true);
    fake_symbols = of_pointer_symbols;
    open_side(&side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side.device, &mpi) == ACCL_OK);
    CHECK(fake.receives[0].used);
    CHECK(accl_mpi_stop(side.device, 1000000) == ACCL_PENDING);
    for (int i = 0; i < FAKE_RECEIVES; i++)
        CHECK(!fake.receives[i].used);
    close_side(&side);
    memset(fake.messages, 0, sizeof fake.messages);
}

int main(void)
{
    test_wrong_setups();
    test_shared_memory_needs_no_mpi();
    test_two_ranks(false, true, false);
    test_two_ranks(true, true, false);
    test_two_ranks(false, false, false);
    test_two_ranks(false, true, true);
    test_two_ranks(true, false, true);
    test_packets_move_while_the_program_computes();
    test_stop_without_the_peer();
    test_messages_that_are_no_packets();
    test_messages_that_are_here();
    test_failure_of_mpi_ends_calls();
    return 0;
}
