/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that is rank 0, and packets of rank 1 that a test writes by hand.
 */
#ifndef ACCL_TEST_PACKET_SIDE_H
#define ACCL_TEST_PACKET_SIDE_H

#include "accl.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "accl/transport/packets/packet_format.h"
#include "tests/support/check.h"

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
static inline bool next_packet(const struct side *side, struct packet_header *header,
                               int64_t timeout)
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
static inline struct packet_header expect_packet(const struct side *side, enum packet_kind kind)
{
    struct packet_header header;
    do
        CHECK(next_packet(side, &header, LONG));
    while (header.kind == PACKET_ACK && kind != PACKET_ACK);
    CHECK(header.kind == kind);
    return header;
}

static inline int deliver_from(const struct side *side, uint32_t rank, struct packet_header header,
                               const float *data)
{
    struct accl_packet p = {.size = sizeof p};
    header.magic = PACKET_MAGIC;
    header.version = PACKET_VERSION;
    header.from = rank;
    CHECK(accl_packet_space(side->device, sizeof header + header.payload, &p) == ACCL_OK);
    memcpy(p.data, &header, sizeof header);
    if (data != NULL)
        memcpy((uint8_t *)p.data + sizeof header, data, header.payload);
    return accl_packet_arrived(side->device, rank, p.id);
}

static inline int deliver(const struct side *side, struct packet_header header, const float *data)
{
    return deliver_from(side, PEER, header, data);
}

static inline void set(const struct side *side, uint32_t function, uint64_t value)
{
    struct accl_call call = {
        .size = sizeof call, .operation = ACCL_CONFIG, .function = function, .count = value};
    CHECK(accl_call_sync(side->device, &call, NULL) == ACCL_OK);
}

static inline struct side open_side(bool greets)
{
    static unsigned number;
    struct side side = {.next_id = 1};
    char job[32];
    snprintf(job, sizeof job, "unit %d %u", (int)getpid(), number++);
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

static inline void close_side(struct side *side)
{
    accl_close(side->device);
    accl_buffer_free(side->buffer);
}

static inline const float *numbers(float base)
{
    static float values[LARGE];
    for (int i = 0; i < LARGE; i++)
        values[i] = base + (float)i;
    return values;
}

static inline void check_received(const struct side *side, uint64_t count, float base)
{
    CHECK(accl_buffer_sync_from_device(side->buffer, 0, count * 4) == ACCL_OK);
    const float *got = accl_buffer_host(side->buffer);
    for (uint64_t i = 0; i < count; i++)
        CHECK(got[i] == base + (float)i);
}

/* A message of COUNT floats that begins with HAVE of them. */
static inline struct packet_header message(struct side *side, enum packet_kind kind, uint32_t count,
                                           uint32_t have)
{
    uint32_t segments = (count * 4 + RX_BYTES - 1) / RX_BYTES;
    return (struct packet_header){.kind = (uint8_t)kind,
                                  .wire_type = ACCL_FLOAT32,
                                  .segments = kind == PACKET_RTS ? 1 : segments,
                                  .id = side->next_id++,
                                  .key = side->key,
                                  .total = count * 4,
                                  .payload = have * 4,
                                  .tag = TAG,
                                  .numbers = segments};
}

/* Floats [AT, AT+N) of a message. */
static inline int deliver_rest(const struct side *side, struct packet_header header, uint32_t at,
                               uint32_t n, float base)
{
    header.kind = PACKET_DATA;
    header.offset = at * 4;
    header.payload = n * 4;
    return deliver(side, header, numbers(base) + at);
}

static inline accl_request *start_at(const struct side *side, uint32_t operation, uint32_t count,
                                     uint32_t rank)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = count,
                             .root_src_dst = rank,
                             .dtype = ACCL_FLOAT32,
                             .tag = TAG};
    accl_request *request;
    call.address[0] = call.address[2] = accl_buffer_address(side->buffer);
    CHECK(accl_call_start(side->device, &call, NULL, 0, &request) == ACCL_OK);
    return request;
}

static inline accl_request *start(const struct side *side, uint32_t operation, uint32_t count)
{
    return start_at(side, operation, count, PEER);
}

/* Ends with BITS, and a message that has TEXT in it. */
static inline void finish(accl_request *request, uint32_t bits, const char *text)
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

#endif
