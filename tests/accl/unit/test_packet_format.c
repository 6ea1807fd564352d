/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/accl/transport/packets/packet_format.c csrc/accl/arithmetic/dtype.c
 *
 * Validity of a packet from another rank by itself: each flaw alone, beside its limit.
 */
#include "accl/transport/packets/packet_format.h"

#include <stdbool.h>
#include <string.h>

#include "accl.h"
#include "accl/base/arena.h"
#include "tests/support/check.h"

enum { FROM = 2, EAGER_BYTES = 16 };

static struct packet_header packet(enum packet_kind kind, uint32_t payload)
{
    return (struct packet_header){.magic = PACKET_MAGIC,
                                  .version = PACKET_VERSION,
                                  .kind = (uint8_t)kind,
                                  .from = FROM,
                                  .payload = payload};
}

static struct packet_header eager(void)
{
    struct packet_header header = packet(PACKET_EAGER, EAGER_BYTES);
    header.wire_type = ACCL_FLOAT32;
    header.segments = 1;
    header.total = 2 * EAGER_BYTES;
    return header;
}

/* Of the length that the header says; FLAW is part of the answer, or NULL if there is none. */
#define EXPECT(header, flaw) expect(&(header), sizeof(header) + (header).payload, flaw, __LINE__)
static void expect(const struct packet_header *header, uint64_t bytes, const char *flaw, int line)
{
    const char *said = acclib_packet_flaw(header, bytes, FROM);
    if ((said == NULL) != (flaw == NULL) || (said != NULL && strcmp(said, flaw) != 0)) {
        fprintf(stderr, "line %d: said %s, expected %s\n", line, said ? said : "nothing",
                flaw ? flaw : "nothing");
        abort();
    }
}

static void test_a_length_that_no_packet_has(void)
{
    struct packet_header header = eager();
    expect(&header, 0, "an invalid length", __LINE__);
    expect(&header, sizeof header - 1, "an invalid length", __LINE__);
    expect(&header, ACCL_PACKET_MAX + UINT64_C(1), "an invalid length", __LINE__);
    expect(&header, UINT64_MAX, "an invalid length", __LINE__);

    header.payload = (uint32_t)(ACCL_PACKET_MAX - sizeof header);
    header.total = header.payload - header.payload % 4 + 4;
    expect(&header, ACCL_PACKET_MAX, NULL, __LINE__);
}

static void test_what_is_of_another_protocol(void)
{
    struct packet_header header = eager();
    header.magic ^= 1;
    EXPECT(header, "no packet header");

    header = eager();
    header.version++;
    EXPECT(header, "a different version");
}

static void test_every_kind_and_payload(void)
{
    for (unsigned kind = 0; kind < 256; kind++) {
        struct packet_header header = eager();
        header.kind = (uint8_t)kind;
        bool known = kind >= PACKET_HELLO && kind <= PACKET_DIRECT;
        bool carries = kind == PACKET_EAGER || kind == PACKET_DATA;
        const char *refused = carries ? NULL : "a payload of a different length";
        EXPECT(header, known ? refused : "an unknown kind");

        header.payload = 0;
        const char *empty = kind == PACKET_DATA ? "no data" : NULL;
        EXPECT(header, known ? empty : "an unknown kind");
    }
}

static void test_names_of_direct_messages(void)
{
    for (unsigned kind = PACKET_READY; kind <= PACKET_DIRECT; kind++) {
        struct packet_header header = packet((enum packet_kind)kind, 0);
        header.wire_type = ACCL_FLOAT32;
        header.total = 16;
        header.offset = UINT64_MAX; /* a name, not a place */
        EXPECT(header, NULL);
        header.total = 18;
        EXPECT(header, "no element type");
        header.total = 0;
        EXPECT(header, "no element type");
        header.total = 16;
        header.wire_type = 0;
        EXPECT(header, "no element type");
        header.wire_type = ACCL_FLOAT32;
        header.total = PACKET_TOTAL_MAX + 4;
        EXPECT(header, "data outside its message");
    }
}

static void test_a_channel_that_is_none(void)
{
    struct packet_header header = eager();
    header.channel = CHANNEL_COLLECTIVE;
    EXPECT(header, NULL);
    header.channel = CHANNELS;
    EXPECT(header, "an unknown kind");
}

static void test_a_sender_other_than_the_connection_is_of(void)
{
    struct packet_header header = eager();
    header.from = FROM + 1;
    EXPECT(header, "a different rank as its sender");
}

static void test_a_payload_that_is_not_there(void)
{
    struct packet_header header = eager();
    expect(&header, sizeof header + EAGER_BYTES - 1, "a payload of a different length", __LINE__);
    expect(&header, sizeof header + EAGER_BYTES + 1, "a payload of a different length", __LINE__);
}

static void test_rx_buffers_of_a_hello(void)
{
    static const struct {
        uint32_t count;
        uint64_t bytes;
        const char *flaw;
    } cases[] = {
        {1, 8, NULL},
        {ARENA_RX_MAX, UINT64_MAX, NULL},
        {0, 8, "no rx buffers"},
        {ARENA_RX_MAX + 1, 8, "no rx buffers"},
        {1, 7, "no rx buffers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct packet_header header = packet(PACKET_HELLO, 0);
        header.segments = cases[i].count;
        header.total = cases[i].bytes;
        EXPECT(header, cases[i].flaw);
    }
}

static void test_data_lies_within_its_message(void)
{
    static const struct {
        uint64_t total, offset;
        const char *flaw;
    } cases[] = {
        {16, 0, NULL},
        {PACKET_TOTAL_MAX, PACKET_TOTAL_MAX - 16, NULL},
        {PACKET_TOTAL_MAX + 1, 0, "data outside its message"},
        {15, 0, "data outside its message"},
        {32, 17, "data outside its message"},
        {32, 33, "data outside its message"},
        {32, UINT64_MAX - 8, "data outside its message"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct packet_header header = packet(PACKET_DATA, 16);
        header.total = cases[i].total;
        header.offset = cases[i].offset;
        EXPECT(header, cases[i].flaw);
    }
}

/* Of a message's first packet, whether its data is with it or asked for. */
static void test_the_element_type_of_a_message(void)
{
    for (unsigned rendezvous = 0; rendezvous < 2; rendezvous++) {
        struct packet_header sound = eager();
        sound.kind = rendezvous ? PACKET_RTS : PACKET_EAGER;
        sound.payload = rendezvous ? 0 : EAGER_BYTES;
        EXPECT(sound, NULL);

        struct packet_header header = sound;
        header.wire_type = 255;
        EXPECT(header, "no element type");
        header = sound;
        header.total++;
        EXPECT(header, "no element type");
        header = sound;
        header.segments = 0;
        EXPECT(header, "no element type");
        header = sound;
        header.offset = 4;
        EXPECT(header, "no element type");
    }
}

static void test_the_stream_of_a_put(void)
{
    struct packet_header header = eager();
    header.stream = ACCL_STREAM_ID_MAX + 1;
    EXPECT(header, NULL);
    header.channel = CHANNEL_COLLECTIVE;
    EXPECT(header, "an invalid stream number");
    header.channel = CHANNEL_USER;
    header.stream++;
    EXPECT(header, "an invalid stream number");
}

int main(void)
{
    test_a_length_that_no_packet_has();
    test_what_is_of_another_protocol();
    test_every_kind_and_payload();
    test_names_of_direct_messages();
    test_a_channel_that_is_none();
    test_a_sender_other_than_the_connection_is_of();
    test_a_payload_that_is_not_there();
    test_rx_buffers_of_a_hello();
    test_data_lies_within_its_message();
    test_the_element_type_of_a_message();
    test_the_stream_of_a_put();
    return 0;
}
