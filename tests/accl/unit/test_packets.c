/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * Packets from another rank that make sense by themselves, but not after what came before them; and
 * messages that are announced, granted, cut off, given up or refused. This program is rank 1: it
 * writes that rank's packets by hand, to a device that is rank 0.
 */
#include "accl.h"

#include <string.h>

#include "accl/transport/packets/packet_format.h"
#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"

#define LONG INT64_C(20000000000)

enum { RX_BUFFERS = 4, RX_BYTES = 256, PEER = 1, RANKS = 3, TAG = 5, LARGE = 600 };

/* A device, and what its peer knows. */
struct side {
    accl_device *device;
    accl_buffer *buffer; /* LARGE floats */
    struct packet_header hello;
    uint64_t key;     /* of communicator 0 */
    uint64_t next_id; /* of the peer's messages */
};

/* The next packet to the peer; false if there is none in TIMEOUT. */
static bool next_packet(const struct side *side, struct packet_header *header, int64_t timeout)
{
    struct accl_packet p = {.size = sizeof p};
    for (;;) {
        int status = accl_packet_next(side->device, &p);
        if (status == ACCL_PENDING && accl_packet_wait(side->device, timeout) == ACCL_PENDING)
            return false;
        if (status == ACCL_PENDING)
            continue;
        CHECK(status == ACCL_OK && p.bytes >= sizeof *header);
        CHECK(acclib_packet_flaw(p.data, p.bytes, 0) == NULL);
        memcpy(header, p.data, sizeof *header);
        CHECK(accl_packet_done(side->device, p.id) == ACCL_OK);
        CHECK(accl_packet_done(side->device, p.id) == ACCL_INVALID);
        if (p.rank == PEER)
            return true;
    }
}

/* The next packet of a kind, past those that only acknowledge. */
static struct packet_header expect_packet(const struct side *side, enum packet_kind kind)
{
    struct packet_header header;
    do
        CHECK(next_packet(side, &header, LONG));
    while (header.kind == PACKET_ACK && kind != PACKET_ACK);
    CHECK(header.kind == kind);
    return header;
}

static int deliver(const struct side *side, struct packet_header header, const float *data)
{
    struct accl_packet p = {.size = sizeof p};
    header.magic = PACKET_MAGIC;
    header.version = PACKET_VERSION;
    header.from = PEER;
    CHECK(accl_packet_space(side->device, sizeof header + header.payload, &p) == ACCL_OK);
    memcpy(p.data, &header, sizeof header);
    if (header.payload)
        memcpy((uint8_t *)p.data + sizeof header, data, header.payload);
    return accl_packet_arrived(side->device, PEER, p.id);
}

static void set(const struct side *side, uint32_t function, uint64_t value)
{
    struct accl_call call = {
        .size = sizeof call, .operation = ACCL_CONFIG, .function = function, .count = value};
    CHECK(accl_call_sync(side->device, &call, NULL) == ACCL_OK);
}

static struct side open_side(bool greets)
{
    static unsigned number;
    struct side side = {.next_id = 1};
    char job[32];
    snprintf(job, sizeof job, "unit %u", number++);
    struct accl_config config = {.size = sizeof config, .memory_bytes = 1 << 20, .job = job};
    struct accl_rank ranks[RANKS];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] =
            (struct accl_rank){.ip = 0x7F000001, .port = 9000 + i, .reach = ACCL_REACH_PACKETS};

    uint32_t id;
    struct accl_communicator_info info = {.size = sizeof info};
    CHECK(accl_open(&config, &side.device) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(side.device, RX_BUFFERS, RX_BYTES) == ACCL_OK);
    CHECK(accl_create_communicator(side.device, ranks, RANKS, 0, &id) == ACCL_OK);
    CHECK(accl_communicator_info(side.device, id, &info) == ACCL_OK);
    side.key = info.key;
    CHECK(accl_buffer_create(side.device, LARGE * 4, ACCL_FLOAT32, 0, &side.buffer) == ACCL_OK);
    CHECK(accl_stream_mode(side.device, ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    set(&side, ACCL_CFG_TIMEOUT, 20000);
    side.hello = expect_packet(&side, PACKET_HELLO);
    if (greets)
        CHECK(deliver(&side, side.hello, NULL) == ACCL_OK);
    return side;
}

static void close_side(struct side *side)
{
    accl_close(side->device);
    accl_buffer_free(side->buffer);
}

static const float *numbers(float base)
{
    static float values[LARGE];
    for (int i = 0; i < LARGE; i++)
        values[i] = base + (float)i;
    return values;
}

static void check_received(const struct side *side, uint64_t count, float base)
{
    CHECK(accl_buffer_sync_from_device(side->buffer, 0, count * 4) == ACCL_OK);
    const float *got = accl_buffer_host(side->buffer);
    for (uint64_t i = 0; i < count; i++)
        CHECK(got[i] == base + (float)i);
}

/* A message of COUNT floats that begins with HAVE of them. */
static struct packet_header message(struct side *side, enum packet_kind kind, uint32_t count,
                                    uint32_t have)
{
    uint32_t segments = (count * 4 + RX_BYTES - 1) / RX_BYTES;
    return (struct packet_header){.kind = (uint8_t)kind,
                                  .wire_type = ACCL_FLOAT32,
                                  .segments = kind == PACKET_REQUEST ? 1 : segments,
                                  .id = side->next_id++,
                                  .key = side->key,
                                  .total = count * 4,
                                  .payload = have * 4,
                                  .tag = TAG,
                                  .numbers = segments};
}

/* Floats [AT, AT+N) of a message. */
static int deliver_rest(const struct side *side, struct packet_header header, uint32_t at,
                        uint32_t n, float base)
{
    header.kind = PACKET_DATA;
    header.offset = at * 4;
    header.payload = n * 4;
    return deliver(side, header, numbers(base) + at);
}

static accl_request *start(const struct side *side, uint32_t operation, uint32_t count)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = count,
                             .root_src_dst = PEER,
                             .dtype = ACCL_FLOAT32,
                             .tag = TAG};
    accl_request *request;
    call.address[0] = call.address[2] = accl_buffer_address(side->buffer);
    CHECK(accl_call_start(side->device, &call, NULL, 0, &request) == ACCL_OK);
    return request;
}

/* Ends with BITS, and a message that has TEXT in it. */
static void finish(accl_request *request, uint32_t bits, const char *text)
{
    int status = accl_request_wait(request, LONG);
    if (accl_request_retcode(request) != bits || status != (bits ? ACCL_CALL_FAILED : ACCL_OK) ||
        strstr(accl_request_message(request), text) == NULL) {
        fprintf(stderr, "status %d, bits %x: %s\n", status, accl_request_retcode(request),
                accl_request_message(request));
        abort();
    }
    accl_request_free(request);
}

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
    h = message(&side, PACKET_REQUEST, LARGE, 0);
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

    /* Announced, and nobody has granted it. */
    side = open_side(true);
    h = message(&side, PACKET_REQUEST, LARGE, 0);
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
    struct packet_header grant = {.kind = PACKET_GRANT};
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
    REFUSED(&side, cancel, "a cancellation of a message that was sent unasked");

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
    struct packet_header h = message(&side, PACKET_REQUEST, LARGE, 0);
    accl_request *request = start(&side, ACCL_RECV, LARGE);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    struct packet_header grant = expect_packet(&side, PACKET_GRANT);
    CHECK(grant.id == h.id && grant.key == h.key);
    CHECK(deliver_rest(&side, h, 0, 256, 3) == ACCL_OK);
    CHECK(deliver_rest(&side, h, 256, LARGE - 256, 3) == ACCL_OK);
    finish(request, 0, "");
    check_received(&side, LARGE, 3);

    /* One of another length is not wanted. */
    h = message(&side, PACKET_REQUEST, LARGE, 0);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    finish(start(&side, ACCL_RECV, 2), ACCL_ERROR(DMA_SIZE_ERROR), "");
    struct packet_header drop = expect_packet(&side, PACKET_DROP);
    CHECK(drop.id == h.id && drop.tag == DROP_UNWANTED);
    close_side(&side);
}

/* The peer gives a message up: before it is granted, and after. Another one takes its place. */
static void test_a_message_that_is_given_up(void)
{
    for (int granted = 0; granted < 2; granted++) {
        struct side side = open_side(true);
        struct packet_header h = message(&side, PACKET_REQUEST, LARGE, 0);
        struct packet_header cancel = {.kind = PACKET_CANCEL, .id = h.id, .key = h.key};
        accl_request *request = granted ? start(&side, ACCL_RECV, LARGE) : NULL;
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        if (granted) {
            expect_packet(&side, PACKET_GRANT);
            CHECK(deliver_rest(&side, h, 0, 10, 3) == ACCL_OK);
        }
        CHECK(deliver(&side, cancel, NULL) == ACCL_OK);

        h = message(&side, PACKET_REQUEST, LARGE, 0);
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        request = granted ? request : start(&side, ACCL_RECV, LARGE);
        CHECK(expect_packet(&side, PACKET_GRANT).id == h.id);
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

/* A receive whose time is up leaves a message behind, a reset one that has begun: the rest of it
 * goes nowhere. */
static void test_the_rest_of_a_message_is_dropped(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_REQUEST, 200, 0);
    set(&side, ACCL_CFG_TIMEOUT, 300);
    accl_request *request = start(&side, ACCL_RECV, 200);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    expect_packet(&side, PACKET_GRANT);
    finish(request, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR), "no message from rank 1");
    set(&side, ACCL_CFG_TIMEOUT, 20000);
    CHECK(deliver_rest(&side, h, 0, 200, 0) == ACCL_OK);
    check_next(&side, 1);

    side = open_side(true);
    h = message(&side, PACKET_EAGER, 200, 20);
    CHECK(deliver(&side, h, numbers(0)) == ACCL_OK);
    set(&side, ACCL_CFG_RESET, 0);
    set(&side, ACCL_CFG_TIMEOUT, 20000);
    CHECK(deliver_rest(&side, h, 20, 180, 0) == ACCL_OK);
    check_next(&side, 4);
}

/* A reset drops what waits: what the peer announced is answered. */
static void test_a_reset_answers_announcements(void)
{
    struct side side = open_side(true);
    struct packet_header h = message(&side, PACKET_REQUEST, LARGE, 0);
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    set(&side, ACCL_CFG_RESET, 0);
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
    struct packet_header h = expect_packet(&side, PACKET_REQUEST);
    CHECK(h.total == LARGE * 4);
    struct packet_header answer = {.kind = PACKET_GRANT, .id = h.id, .key = h.key};
    CHECK(deliver(&side, answer, NULL) == ACCL_OK);
    CHECK(expect_packet(&side, PACKET_DATA).payload == LARGE * 4);
    finish(request, 0, "");
    CHECK(deliver(&side, answer, NULL) == ACCL_OK); /* as after a cancellation */

    /* The receiver wanted another length: it knows, and the sender has done its part. */
    request = start(&side, ACCL_SEND, LARGE);
    h = expect_packet(&side, PACKET_REQUEST);
    answer = (struct packet_header){.kind = PACKET_DROP, .id = h.id, .key = h.key};
    CHECK(deliver(&side, answer, NULL) == ACCL_OK);
    finish(request, 0, "");

    /* Nobody answers. */
    set(&side, ACCL_CFG_TIMEOUT, 50);
    finish(start(&side, ACCL_SEND, LARGE), ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR),
           "send of 2400 bytes to rank 1 of communicator 0");
    h = expect_packet(&side, PACKET_REQUEST);
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

    /* An announced one that its sender gives up, before and after it is granted. */
    for (int granted = 0; granted < 2; granted++) {
        h = message(&side, PACKET_REQUEST, LARGE, 0);
        h.stream = 10 + 1;
        struct packet_header cancel = {.kind = PACKET_CANCEL, .id = h.id, .key = h.key};
        CHECK(deliver(&side, h, NULL) == ACCL_OK);
        if (granted) {
            float none[1];
            uint32_t stream;
            size_t bytes;
            CHECK(accl_stream_pull(side.device, &stream, none, 4, &bytes, 0) == ACCL_PENDING);
            CHECK(expect_packet(&side, PACKET_GRANT).id == h.id);
            CHECK(deliver_rest(&side, h, 0, 10, 0) == ACCL_OK);
        }
        CHECK(deliver(&side, cancel, NULL) == ACCL_OK);
    }

    h = message(&side, PACKET_REQUEST, LARGE, 0);
    h.stream = 11 + 1;
    CHECK(deliver(&side, h, NULL) == ACCL_OK);
    float none[1];
    uint32_t stream;
    size_t bytes;
    while (accl_stream_pull(side.device, &stream, none, 4, &bytes, 1000000) == ACCL_PENDING) {
        struct packet_header grant;
        if (!next_packet(&side, &grant, 0) || grant.kind != PACKET_GRANT)
            continue;
        CHECK(grant.id == h.id);
        CHECK(deliver_rest(&side, h, 0, LARGE, 4) == ACCL_OK);
    }
    check_pulled(&side, 11, LARGE, 4); /* it was too large for NONE */
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
    /* What the peer asks before it has seen the last packet has no answer. */
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
    test_a_message_in_parts();
    test_an_announced_message();
    test_a_message_that_is_given_up();
    test_the_rest_of_a_message_is_dropped();
    test_a_reset_answers_announcements();
    test_an_announcement_that_is_answered();
    test_a_peer_without_room();
    test_a_peer_that_does_not_start();
    test_stream_puts();
    test_no_memory();
    test_leaving();
    return 0;
}
