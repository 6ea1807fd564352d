/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Fuzz target: packets that come from other ranks. An input is a list of steps; each is a byte that
 * says who sends or what this rank does, a length of two bytes, and a packet of that length.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl.h"
#include "accl/transport/packets/packet_format.h"

/* Packets may announce puts of any size: beyond this one there is no memory, as elsewhere. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

#define RANKS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s (%s)\n", what, accl_error_message());
        abort();
    }
}

static accl_device *open_device(void)
{
    static unsigned number;
    char job[32];
    accl_device *device;
    struct accl_config config = {.size = sizeof config, .memory_bytes = 1 << 20, .job = job};
    struct accl_rank ranks[RANKS];
    uint32_t id;
    snprintf(job, sizeof job, "fuzz %d %u", (int)getpid(), number++);
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].ip = 0x7F000001;
        ranks[i].port = 9000 + i;
        ranks[i].reach = ACCL_REACH_PACKETS;
    }
    require(accl_open(&config, &device) == ACCL_OK, "opens");
    require(accl_setup_rx_buffers(device, 4, 256) == ACCL_OK, "has rx buffers");
    require(accl_create_communicator(device, ranks, RANKS, 0, &id) == ACCL_OK, "takes part");
    return device;
}

/* Takes the outgoing packets, which are always in order. */
static void drain(accl_device *device)
{
    struct accl_packet p = {.size = sizeof p};
    while (accl_packet_next(device, &p) == ACCL_OK) {
        require(p.rank > 0 && p.rank < RANKS, "packets go to other ranks");
        require(acclib_packet_flaw(p.data, p.bytes, 0) == NULL, "own packets are sound");
        require(accl_packet_done(device, p.id) == ACCL_OK, "a packet was sent");
    }
}

static void act(accl_device *device, const accl_buffer *buffer, uint8_t what)
{
    static const uint32_t operations[] = {ACCL_RECV, ACCL_SEND, ACCL_BCAST, ACCL_REDUCE,
                                          ACCL_ALLGATHER};
    char text[4096];
    size_t needed;
    uint32_t stream;
    uint32_t retcode;
    if (what < 40) {
        struct accl_call call = {.size = sizeof call,
                                 .operation = operations[what % 5],
                                 .count = what < 20 ? 4 : 600,
                                 .root_src_dst = 1 + what % 2,
                                 .dtype = ACCL_FLOAT32,
                                 .tag = what % 3 ? ACCL_TAG_ANY : 5};
        call.address[0] = call.address[2] = accl_buffer_address(buffer);
        int status = accl_call_sync(device, &call, &retcode);
        require(status == ACCL_OK || (status == ACCL_CALL_FAILED && retcode), "a call ends");
    } else if (what < 44) {
        require(accl_dump_rx_buffers(device, text, sizeof text, &needed) == ACCL_OK, "dumps");
    } else if (what < 48) {
        struct accl_call reset = {.size = sizeof reset, .operation = ACCL_CONFIG};
        require(accl_call_sync(device, &reset, NULL) == ACCL_OK, "resets");
    } else {
        accl_stream_pull(device, &stream, text, sizeof text, &needed, 0);
    }
    drain(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    accl_device *device = open_device();
    accl_buffer *buffer;
    int lost[RANKS] = {0};
    struct accl_call limit = {
        .size = sizeof limit, .operation = ACCL_CONFIG, .function = ACCL_CFG_TIMEOUT, .count = 1};
    require(accl_buffer_create(device, 8192, 0, 0, &buffer) == ACCL_OK, "has a buffer");
    require(accl_call_sync(device, &limit, NULL) == ACCL_OK, "has a time limit");
    require(accl_stream_mode(device, ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK, "has a queue");
    for (int steps = 0; size >= 3 && steps < 24; steps++) {
        uint8_t what = data[0];
        size_t n = data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        if (what >= 128) {
            act(device, buffer, what & 63);
            continue;
        }
        uint32_t rank = 1 + what % 2;
        struct accl_packet p = {.size = sizeof p};
        n = n < size ? n : size;
        require(accl_packet_space(device, n, &p) == ACCL_OK, "has room");
        memcpy(p.data, data, n);
        data += n;
        size -= n;
        int status = accl_packet_arrived(device, rank, p.id);
        require(status == ACCL_OK || (status == ACCL_INVALID && !lost[rank]),
                "nonsense is refused once");
        lost[rank] |= status == ACCL_INVALID;
        require(!accl_error_message()[0] || status != ACCL_INVALID || lost[rank], "says why");
        drain(device);
    }
    uint64_t outstanding;
    require(accl_packet_leave(device) == ACCL_OK, "leaves");
    drain(device);
    require(accl_packet_outstanding(device, &outstanding) == ACCL_OK && outstanding == 0,
            "all packets have gone");
    accl_close(device);
    accl_buffer_free(buffer);
    return 0;
}
