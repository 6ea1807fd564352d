/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * Packets from another rank that make sense by themselves, but not after what came before them; a
 * device without memory for them, and one that leaves.
 */
#include "tests/accl/unit/packet_side.h"
#include "tests/support/failing_malloc.h"

/* --- what is refused --- */

/* HEADER is refused, the peer is lost from there on, and calls say why. */
#define REFUSED(side, header, text) refused(side, header, text, __LINE__)
static void refused(struct side *side, struct packet_header header, const char *text, int line)
{
    char why[128];
    snprintf(why, sizeof why, "a packet from rank 1 has %s", text);
    int status = deliver(side, header, numbers(0));
    if (status != ACCL_INVALID || strcmp(accl_error_message(), why) != 0) {
        fprintf(stderr, "line %d: %d, %s\n", line, status, accl_error_message());
        abort();
    }

    CHECK(deliver(side, header, numbers(0)) == ACCL_OK); /* too late, whatever it is */
    snprintf(why, sizeof why, "it sent a packet with %s", text);
    finish(start(side, ACCL_SEND, 1), ACCL_ERROR(PEER_LOST_ERROR), why);
    close_side(side);
}

static void test_greetings(void)
{
    struct side side = open_side(false);
    REFUSED(&side, message(&side, PACKET_EAGER, 1, 1), "no greeting before it");

    side = open_side(true);
    REFUSED(&side, side.hello, "a second greeting");

    side = open_side(false);
    side.hello.key++;
    REFUSED(&side, side.hello, "a different list of ranks");

    side = open_side(false);
    side.hello.tag = RANKS - 1;
    REFUSED(&side, side.hello, "a different list of ranks");

    side = open_side(true);
    CHECK(deliver(&side, (struct packet_header){.kind = PACKET_BYE}, NULL) == ACCL_OK);
    struct packet_header h = message(&side, PACKET_EAGER, 1, 1);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_INVALID);
    CHECK(strstr(accl_error_message(), "data after its last packet"));
    close_side(&side);
}

static void test_messages_out_of_order(void)
{
    struct side side = open_side(true);
    side.next_id = 2;
    REFUSED(&side, message(&side, PACKET_EAGER, 1, 1), "a message out of order");

    /* The message before it is not complete. */
    side = open_side(true);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 10, 4), numbers(0)) == ACCL_OK);
    REFUSED(&side, message(&side, PACKET_EAGER, 1, 1), "a message out of order");

    /* More rx buffers than there are, at once and little by little. */
    side = open_side(true);
    REFUSED(&side, message(&side, PACKET_EAGER, 5 * RX_BYTES / 4, 1),
            "a message that exceeds the receive window");
    side = open_side(true);
    for (int i = 0; i < RX_BUFFERS; i++)
        CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    REFUSED(&side, message(&side, PACKET_EAGER, 1, 1), "a message that exceeds the receive window");

    /* More bytes than its rx buffers have; an announced one takes one. */
    side = open_side(true);
    struct packet_header h = message(&side, PACKET_EAGER, RX_BYTES / 4 + 1, 1);
    h.segments = 1;
    REFUSED(&side, h, "a message of an invalid length");
    side = open_side(true);
    h = message(&side, PACKET_RTS, LARGE, 0);
    h.segments = 2;
    REFUSED(&side, h, "a message of an invalid length");

    side = open_side(true);
    h = message(&side, PACKET_EAGER, 4, 1);
    h.payload = 6;
    REFUSED(&side, h, "an incomplete element");
    side = open_side(true);
    REFUSED(&side, message(&side, PACKET_EAGER, 4, 0), "an incomplete element");
}

static void test_data_out_of_order(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_EAGER, 8, 4), rest = h;
    rest.kind = PACKET_DATA;
    rest.payload = 16;
    rest.offset = 16;
    REFUSED(&side, rest, "data that belongs to no message");

    side = open_side(true);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    rest.offset = 12;
    REFUSED(&side, rest, "data out of order");

    side = open_side(true);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    rest.offset = 16;
    rest.payload = 6;
    REFUSED(&side, rest, "an incomplete element");

    /* Announced, and nobody has cleared it. */
    side = open_side(true);
    h = message(&side, PACKET_RTS, LARGE, 0);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    h.kind = PACKET_DATA;
    h.payload = 4;
    REFUSED(&side, h, "data that belongs to no message");

    /* More than what is left. The total is that of the announcement. */
    side = open_side(true);
    h = message(&side, PACKET_EAGER, 8, 6);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    h.kind = PACKET_DATA;
    h.offset = 24;
    h.payload = 12;
    h.total = 100;
    REFUSED(&side, h, "data out of order");
}

static void test_answers_and_cancellations(void)
{
    struct packet_header grant = {.kind = PACKET_CTS};
    struct side side = open_side(true);
    REFUSED(&side, grant, "an answer without a request");
    side = open_side(true);
    grant.id = 1;
    REFUSED(&side, grant, "an answer without a request");

    struct packet_header cancel = {.kind = PACKET_CANCEL, .id = 1};
    side = open_side(true);
    REFUSED(&side, cancel, "a cancellation of no message");
    side = open_side(true);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    REFUSED(&side, cancel, "a cancellation of a message that was sent eagerly");

    /* One that was received already comes too late, and is no mistake. */
    side = open_side(true);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(7)) == ACCL_OK);
    finish(start(&side, ACCL_RECV, 1), 0, "");
    check_received(&side, 1, 7);
    CHECK(deliver(&side, cancel, NULL) == ACCL_OK);

    /* Counts of messages that were never sent. */
    struct packet_header ack = {.kind = PACKET_ACK, .consumed = {1, 0}};
    REFUSED(&side, ack, "invalid counts");
}

/* Nothing is lent to a peer that was told of no receive; what it says of its own is forgotten. */
static void test_direct_messages_without_a_receive(void)
{
    struct side side = open_side(true);
    for (int i = 0; i < 1000; i++) {
        struct packet_header ready = message(&side, PACKET_READY, LARGE, 0);
        CHECK(deliver(&side, ready, NULL) == ACCL_OK);
    }
    side.next_id = 1;
    struct packet_header direct = message(&side, PACKET_DIRECT, LARGE, 0);
    direct.segments = 1;
    REFUSED(&side, direct, "a message that was not asked for");
}

static void test_counts_do_not_go_back(void)
{
    struct side side = open_side(true);
    finish(start(&side, ACCL_SEND, 1), 0, "");
    expect_packet(&side, PACKET_EAGER);
    struct packet_header ack = {.kind = PACKET_ACK, .consumed = {1, 0}};
    CHECK(deliver(&side, ack, NULL) == ACCL_OK);
    ack.consumed[0] = 0;
    REFUSED(&side, ack, "invalid counts");
}

/* A peer that only sends is told that half of the rx buffers are free again before it asks. */
static void test_a_peer_that_only_sends_is_told(void)
{
    struct side side = open_side(true);
    struct packet_header told;
    for (int i = 0; i <= RX_BUFFERS / 2; i++) {
        CHECK(!next_packet(&side, &told, 0));
        CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
        finish(start(&side, ACCL_RECV, 1), 0, "");
    }

    told = expect_packet(&side, PACKET_ACK);
    CHECK(told.consumed[CHANNEL_USER] == RX_BUFFERS / 2 + 1);
    CHECK(!next_packet(&side, &told, 0));
    close_side(&side);
}

static void test_other_ranks(void)
{
    struct side side = open_side(true);
    struct accl_packet p = {.size = sizeof p};
    CHECK(accl_packet_space(side.device, ACCL_PACKET_MAX + 1, &p) == ACCL_INVALID);
    for (uint32_t rank = 0; rank <= RANKS; rank += RANKS) { /* itself, and none */
        CHECK(accl_packet_space(side.device, 8, &p) == ACCL_OK);
        CHECK(accl_packet_arrived(side.device, rank, p.id) == ACCL_INVALID);
        CHECK(strstr(accl_error_message(), "sends no packets"));
        CHECK(accl_packet_arrived(side.device, rank, p.id) == ACCL_INVALID);
        CHECK(strstr(accl_error_message(), "is being received"));
        CHECK(accl_packet_lost(side.device, rank, NULL) == ACCL_INVALID);
    }
    CHECK(accl_packet_lost(side.device, PEER, NULL) == ACCL_OK);
    finish(start(&side, ACCL_RECV, 1), ACCL_ERROR(PEER_LOST_ERROR), "it is gone");
    close_side(&side);
}

/* --- different calls --- */

static uint16_t note(uint32_t operation, uint32_t root)
{
    return (uint16_t)(operation << 12 | root << 2);
}

/* Both are roots of a broadcast and wait for nobody; the peer finds that out in its next call. */
static void test_the_first_call_that_differs_is_named(void)
{
    struct side side = open_side(true);
    CHECK(deliver_from(&side, 2, side.hello, NULL) == ACCL_OK);
    struct packet_header h = message(&side, PACKET_EAGER, 1, 1);
    h.channel = CHANNEL_COLLECTIVE;
    h.tag = 1;
    h.call = note(ACCL_BCAST, PEER);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    finish(start_at(&side, ACCL_BCAST, 1, 0), 0, "");

    struct packet_header gave_up = {.kind = PACKET_GAVE_UP,
                                    .channel = CHANNEL_COLLECTIVE,
                                    .key = side.key,
                                    .tag = 2,
                                    .call = note(ACCL_BARRIER, 0)};
    CHECK(deliver(&side, gave_up, NULL) == ACCL_OK);
    finish(start(&side, ACCL_BARRIER, 0), ACCL_ERROR(CALL_MISMATCH_ERROR),
           "as collective call 1 on communicator 0: rank 0 BCAST with root 0, rank 1 BCAST with "
           "root 1");
    close_side(&side);
}

/* --- without memory --- */

/* Each allocation of what a packet makes fails in turn: the peer is lost and calls say why, or the
 * caller may try again. */
static void test_no_memory(void)
{
    struct packet_header kinds[] = {{.kind = PACKET_GAVE_UP, .key = 77, .tag = 1},
                                    {.kind = PACKET_EAGER}};
    for (size_t i = 0; i < 2; i++) {
        struct side side = open_side(true);
        struct accl_packet p = {.size = sizeof p};
        struct packet_header h = i ? message(&side, PACKET_EAGER, 1, 1) : kinds[i];
        h.magic = PACKET_MAGIC;
        h.version = PACKET_VERSION;
        h.from = PEER;

        allocations_left = 0;
        int status = accl_packet_space(side.device, 100, &p);
        allocations_left = -1;
        CHECK(status == ACCL_NO_MEMORY && strstr(accl_error_message(), "packet of 100 bytes"));

        CHECK(accl_packet_space(side.device, sizeof h + h.payload, &p) == ACCL_OK);
        memcpy(p.data, &h, sizeof h);
        memcpy((uint8_t *)p.data + sizeof h, numbers(0), h.payload);
        allocations_left = 0;
        status = accl_packet_arrived(side.device, PEER, p.id);
        allocations_left = -1;
        CHECK(status == ACCL_INVALID && strstr(accl_error_message(), "out of memory"));
        finish(start(&side, ACCL_RECV, 1), ACCL_ERROR(PEER_LOST_ERROR), "out of memory");
        close_side(&side);
    }

    /* A note that is there already needs none. */
    struct side side = open_side(true);
    for (int i = 0; i < 2; i++)
        CHECK(deliver(&side, kinds[0], NULL) == ACCL_OK);
    close_side(&side);
}

/* --- the end --- */

static void test_leaving(void)
{
    struct side side = open_side(true);
    uint64_t before = 99, outstanding = 99;
    CHECK(accl_packet_lost(side.device, 2, "gone") == ACCL_OK);
    CHECK(accl_packet_outstanding(side.device, &before) == ACCL_OK);
    CHECK(accl_packet_leave(side.device) == ACCL_OK);
    CHECK(accl_packet_outstanding(side.device, &outstanding) == ACCL_OK);
    CHECK(outstanding == before + 1); /* nothing to a rank that is lost */
    expect_packet(&side, PACKET_BYE);
    CHECK(accl_packet_outstanding(side.device, &outstanding) == ACCL_OK && outstanding == 0);
    /* A question that the peer asks before it has seen the last packet has no answer. */
    CHECK(deliver(&side, (struct packet_header){.kind = PACKET_PROBE}, NULL) == ACCL_OK);
    CHECK(accl_packet_outstanding(side.device, &outstanding) == ACCL_OK && outstanding == 0);
    CHECK(accl_packet_wake(side.device) == ACCL_OK);
    close_side(&side);

    /* No memory for the last packets. */
    side = open_side(true);
    allocations_left = 0;
    int status = accl_packet_leave(side.device);
    allocations_left = -1;
    CHECK(status == ACCL_NO_MEMORY);
    close_side(&side);
}

int main(void)
{
    test_greetings();
    test_messages_out_of_order();
    test_data_out_of_order();
    test_answers_and_cancellations();
    test_direct_messages_without_a_receive();
    test_counts_do_not_go_back();
    test_a_peer_that_only_sends_is_told();
    test_other_ranks();
    test_the_first_call_that_differs_is_named();
    test_no_memory();
    test_leaving();
    return 0;
}
