/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Messages in packets that are announced, cleared, cut off, given up or refused, and stream puts.
 */
#include "tests/accl/unit/packet_side.h"

/* --- messages --- */

static void test_a_message_in_parts(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_EAGER, 200, 3);
    accl_request *request = start(&side, ACCL_RECV, 200);
    CHECK(deliver(&side, h, numbers(1)) == ACCL_OK);
    CHECK(deliver_rest(&side, h, 3, 100, 1) == ACCL_OK);
    CHECK(accl_request_wait(request, 0) != ACCL_OK);
    CHECK(deliver_rest(&side, h, 103, 97, 1) == ACCL_OK);
    finish(request, 0, "");
    check_received(&side, 200, 1);

    /* Its rx buffers are told of when the peer asks. */
    CHECK(deliver(&side, (struct packet_header){.kind = PACKET_PROBE}, NULL) == ACCL_OK);
    struct packet_header ack = expect_packet(&side, PACKET_ACK);
    CHECK(ack.consumed[CHANNEL_USER] == 4);
    close_side(&side);
}

static void test_an_announced_message(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_RTS, LARGE, 0);
    accl_request *request = start(&side, ACCL_RECV, LARGE);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    struct packet_header grant = expect_packet(&side, PACKET_CTS);
    CHECK(grant.id == h.id && grant.key == h.key);
    CHECK(deliver_rest(&side, h, 0, 256, 3) == ACCL_OK);
    CHECK(deliver_rest(&side, h, 256, LARGE - 256, 3) == ACCL_OK);
    finish(request, 0, "");
    check_received(&side, LARGE, 3);

    /* One of another length is not wanted. */
    h = message(&side, PACKET_RTS, LARGE, 0);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    finish(start(&side, ACCL_RECV, 2), ACCL_ERROR(DMA_SIZE_ERROR), "");
    struct packet_header drop = expect_packet(&side, PACKET_DROP);
    CHECK(drop.id == h.id && drop.tag == DROP_UNWANTED);
    close_side(&side);
}

/* The peer gives a message up: before it is cleared, and after. Another one takes its place. */
static void test_a_message_that_is_given_up(void)
{
    for (int cleared = 0; cleared < 2; cleared++) {
        struct side side = open_side(true);
        struct packet_header h = message(&side, PACKET_RTS, LARGE, 0);
        struct packet_header cancel = {.kind = PACKET_CANCEL, .id = h.id, .key = h.key};
        accl_request *request = cleared ? start(&side, ACCL_RECV, LARGE) : NULL;
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        if (cleared) {
            expect_packet(&side, PACKET_CTS);
            CHECK(deliver_rest(&side, h, 0, 10, 3) == ACCL_OK);
        }
        CHECK(deliver(&side, cancel, NULL) == ACCL_OK);

        h = message(&side, PACKET_RTS, LARGE, 0);
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        request = cleared ? request : start(&side, ACCL_RECV, LARGE);
        CHECK(expect_packet(&side, PACKET_CTS).id == h.id);
        CHECK(deliver_rest(&side, h, 0, LARGE, 9) == ACCL_OK);
        finish(request, 0, "");
        check_received(&side, LARGE, 9);
        close_side(&side);
    }
}

/* The next message of the peer is received; rx buffers of SEGMENTS before it are free by then. */
static void check_next(struct side *side, uint64_t segments)
{
    struct packet_header ack;
    CHECK(deliver(side, message(side, PACKET_EAGER, 10, 10), numbers(40)) == ACCL_OK);
    finish(start(side, ACCL_RECV, 10), 0, "");
    check_received(side, 10, 40);
    CHECK(deliver(side, (struct packet_header){.kind = PACKET_PROBE}, NULL) == ACCL_OK);
    do
        ack = expect_packet(side, PACKET_ACK);
    while (ack.consumed[CHANNEL_USER] < segments + 1);
    CHECK(ack.consumed[CHANNEL_USER] == segments + 1);
    close_side(side);
}

/* The tag of the peer's message that is next, or -1. */
static void expect_tag(struct side *side, int64_t tag)
{
    int64_t tags[RANKS] = {0};
    CHECK(accl_next_tags(side->device, 0, tags, RANKS) == ACCL_OK);
    for (uint32_t i = 0; i < RANKS; i++)
        CHECK(tags[i] == (i == 1 ? tag : -1));
}

/* A receive whose time is up leaves a message behind, a reset one that has begun: the rest of it
 * goes nowhere. */
static void test_the_rest_of_a_message_is_dropped(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_RTS, 200, 0);
    set(&side, ACCL_CFG_TIMEOUT, 300);
    accl_request *request = start(&side, ACCL_RECV, 200);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    expect_packet(&side, PACKET_CTS);
    finish(request, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR), "no message from rank 1");
    set(&side, ACCL_CFG_TIMEOUT, 20000);
    CHECK(deliver_rest(&side, h, 0, 200, 0) == ACCL_OK);
    check_next(&side, 1);

    side = open_side(true);
    h = message(&side, PACKET_EAGER, 200, 20);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    expect_tag(&side, h.tag);
    set(&side, ACCL_CFG_RESET, 0);
    expect_tag(&side, -1);
    set(&side, ACCL_CFG_TIMEOUT, 20000);
    CHECK(deliver_rest(&side, h, 20, 180, 0) == ACCL_OK);
    check_next(&side, 4);
}

/* A reset drops what waits: what the peer announced is answered. */
static void test_a_reset_answers_announcements(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_RTS, LARGE, 0);
    h.tag = 11;
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    expect_tag(&side, 11);
    set(&side, ACCL_CFG_RESET, 0);
    expect_tag(&side, -1);
    CHECK(expect_packet(&side, PACKET_DROP).id == h.id);

    char text[4096];
    size_t needed;
    CHECK(accl_dump_rx_buffers(side.device, text, sizeof text, &needed) == ACCL_OK);
    CHECK(strstr(text, "RESERVED") == NULL);
    close_side(&side);
}

/* --- what rank 0 sends --- */

static void test_an_announcement_that_is_answered(void)
{
    struct side side = open_side(true);
    accl_request *request = start(&side, ACCL_SEND, LARGE);
    struct packet_header h = expect_packet(&side, PACKET_RTS);
    CHECK(h.total == LARGE * 4);
    struct packet_header answer = {.kind = PACKET_CTS, .id = h.id, .key = h.key};
    CHECK(deliver(&side, answer, NULL) == ACCL_OK);
    CHECK(expect_packet(&side, PACKET_DATA).payload == LARGE * 4);
    finish(request, 0, "");
    CHECK(deliver(&side, answer, NULL) == ACCL_OK); /* as after a cancellation */

    /* The receiver wanted another length: it knows, and the sender has done its part. */
    request = start(&side, ACCL_SEND, LARGE);
    h = expect_packet(&side, PACKET_RTS);
    answer = (struct packet_header){.kind = PACKET_DROP, .id = h.id, .key = h.key};
    CHECK(deliver(&side, answer, NULL) == ACCL_OK);
    finish(request, 0, "");

    /* Nobody answers. */
    set(&side, ACCL_CFG_TIMEOUT, 50);
    finish(start(&side, ACCL_SEND, LARGE), ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR),
           "send of 2400 bytes to rank 1 of communicator 0");
    h = expect_packet(&side, PACKET_RTS);
    CHECK(expect_packet(&side, PACKET_CANCEL).id == h.id);
    close_side(&side);
}

static void test_a_peer_without_room(void)
{
    struct side side = open_side(true);
    for (int i = 0; i < RX_BUFFERS; i++) {
        finish(start(&side, ACCL_SEND, 1), 0, "");
        expect_packet(&side, PACKET_EAGER);
    }
    accl_request *request = start(&side, ACCL_SEND, 1);
    expect_packet(&side, PACKET_PROBE);
    struct packet_header ack = {.kind = PACKET_ACK, .consumed = {1, 0}};
    CHECK(deliver(&side, ack, NULL) == ACCL_OK);
    finish(request, 0, "");
    expect_packet(&side, PACKET_EAGER);

    set(&side, ACCL_CFG_TIMEOUT, 50);
    finish(start(&side, ACCL_SEND, 1), ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR),
           "no rx buffer became free");
    close_side(&side);
}

static void test_a_peer_that_does_not_start(void)
{
    struct side side = open_side(false);
    set(&side, ACCL_CFG_TIMEOUT, 50);
    finish(start(&side, ACCL_SEND, 1),
           ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED) | ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
           "do both sides carry packets?");
    close_side(&side);
}

/* --- stream puts --- */

static void check_pulled(const struct side *side, uint32_t expected, uint32_t count, float base)
{
    float got[LARGE];
    uint32_t stream;
    size_t bytes;
    CHECK(accl_stream_pull(side->device, &stream, got, sizeof got, &bytes, LONG) == ACCL_OK);
    CHECK(stream == expected && bytes == count * 4);
    for (uint32_t i = 0; i < count; i++)
        CHECK(got[i] == base + (float)i);
}

static void test_stream_puts(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_EAGER, 30, 10);
    h.stream = 9 + 1;
    CHECK(deliver(&side, h, numbers(2)) == ACCL_OK);
    CHECK(deliver_rest(&side, h, 10, 20, 2) == ACCL_OK);
    check_pulled(&side, 9, 30, 2);

    /* An announced one that its sender gives up, before and after it is cleared. */
    for (int cleared = 0; cleared < 2; cleared++) {
        h = message(&side, PACKET_RTS, LARGE, 0);
        h.stream = 10 + 1;
        struct packet_header cancel = {.kind = PACKET_CANCEL, .id = h.id, .key = h.key};
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        if (cleared) {
            float none[1];
            uint32_t stream;
            size_t bytes;
            CHECK(accl_stream_pull(side.device, &stream, none, 4, &bytes, 0) == ACCL_PENDING);
            CHECK(expect_packet(&side, PACKET_CTS).id == h.id);
            CHECK(deliver_rest(&side, h, 0, 10, 0) == ACCL_OK);
        }
        CHECK(deliver(&side, cancel, NULL) == ACCL_OK);
    }

    h = message(&side, PACKET_RTS, LARGE, 0);
    h.stream = 11 + 1;
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    float none[1];
    uint32_t stream;
    size_t bytes;
    while (accl_stream_pull(side.device, &stream, none, 4, &bytes, 1000000) == ACCL_PENDING) {
        struct packet_header grant;
        if (!next_packet(&side, &grant, 0) || grant.kind != PACKET_CTS)
            continue;
        CHECK(grant.id == h.id);
        CHECK(deliver_rest(&side, h, 0, LARGE, 4) == ACCL_OK);
    }
    check_pulled(&side, 11, LARGE, 4); /* it was too large for NONE */
    close_side(&side);
}

int main(void)
{
    test_a_message_in_parts();
    test_an_announced_message();
    test_a_message_that_is_given_up();
    test_the_rest_of_a_message_is_dropped();
    test_a_reset_answers_announcements();
    test_an_announcement_that_is_answered();
    test_a_peer_without_room();
    test_a_peer_that_does_not_start();
    test_stream_puts();
    return 0;
}
