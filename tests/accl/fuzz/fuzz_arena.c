/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Fuzz target: what other processes write into the memory files of ranks. An input is a list of
 * steps; each is a byte that says what to do, a place in two bytes, a length of one byte, and so
 * many bytes. Either they are written into the file of one of two ranks, or a rank makes a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/peer.h"

#define RANKS 2
#define COMMUNICATORS 3
#define BYTES 60000
#define STEPS_MOST 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct ranks {
    accl_device *device[RANKS];
    accl_buffer *buffer[RANKS];
};

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s (%s)\n", what, accl_error_message());
        abort();
    }
}

static void set_timeout(accl_device *device, uint32_t ms)
{
    struct accl_call limit = {
        .size = sizeof limit, .operation = ACCL_CONFIG, .function = ACCL_CFG_TIMEOUT, .count = ms};
    require(accl_call_sync(device, &limit, NULL) == ACCL_OK, "has a time limit");
}

static void open_rank(struct ranks *r, uint32_t rank, const char *job)
{
    struct accl_config config = {.size = sizeof config,
                                 .memory_mode = ACCL_MEMORY_UNIFIED,
                                 .memory_bytes = 1 << 20,
                                 .job = job};
    struct accl_rank ranks[RANKS];
    const uint32_t all[RANKS] = {0, 1};
    uint32_t id;
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].ip = 0x7F000001;
        ranks[i].port = 9000 + i;
    }
    require(accl_open(&config, &r->device[rank]) == ACCL_OK, "opens");
    accl_device *device = r->device[rank];
    require(accl_setup_rx_buffers(device, 4, 1024) == ACCL_OK, "has rx buffers");
    require(accl_create_communicator(device, ranks, RANKS, rank, &id) == ACCL_OK, "takes part");
    for (int i = 1; i < COMMUNICATORS; i++)
        require(accl_split_communicator(device, 0, all, RANKS, &id) == ACCL_OK, "has more");
    require(accl_buffer_create(device, BYTES, 0, ACCL_BUFFER_ZERO, &r->buffer[rank]) == ACCL_OK,
            "has a buffer");
    require(accl_stream_mode(device, ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK, "has a queue");
}

/* All communicators are used once, so that the ranks have met. */
static void meet(struct ranks *r)
{
    for (uint32_t comm = 0; comm < COMMUNICATORS; comm++) {
        struct accl_call barrier = {
            .size = sizeof barrier, .operation = ACCL_BARRIER, .comm = comm};
        accl_request *request;
        require(accl_call_start(r->device[1], &barrier, NULL, 0, &request) == ACCL_OK, "starts");
        require(accl_call_sync(r->device[0], &barrier, NULL) == ACCL_OK, "meets");
        require(accl_request_wait(request, -1) == ACCL_OK, "is met");
        accl_request_free(request);
    }
}

/* --- steps --- */

struct step {
    uint8_t what;
    uint32_t place;
    const uint8_t *data;
    size_t n;
};

/* Finds the part of RANK's file that a step writes to. */
static uint8_t *find_place(const struct ranks *r, uint32_t rank, uint8_t which, size_t *bytes)
{
    const accl_device *device = r->device[rank];
    const struct communicator *first = communicator_of(device->communicators.first);
    const struct communicator *second = communicator_of(first->in_device.next);
    switch (which) {
    case 0: *bytes = offsetof(struct arena_header, lanes) + 64; return device->heap->base;
    case 1: *bytes = sizeof(struct ring); return (uint8_t *)device->shm->peers[1 - rank].in;
    case 2:
        *bytes = device->pool.slot_count * sizeof(struct rx_slot);
        return (uint8_t *)device->pool.slots;
    case 3: *bytes = offsetof(struct lane, posts); return (uint8_t *)first->lanes->own;
    case 4: *bytes = sizeof(struct lane); return (uint8_t *)first->lanes->own;
    case 5: *bytes = sizeof(struct lane); return (uint8_t *)second->lanes->own;
    case 6:
        *bytes = sizeof(struct ring_entry) * 4;
        return (uint8_t *)device->shm->peers[1 - rank].in->entries;
    default: *bytes = 400000; return device->heap->base;
    }
}

static void write_nonsense(const struct ranks *r, const struct step *s)
{
    size_t bytes;
    uint8_t *start = find_place(r, s->what & 1, s->what >> 1 & 7, &bytes);
    size_t at = s->place % bytes;
    memcpy(start + at, s->data, s->n < bytes - at ? s->n : bytes - at);
}

static void call(const struct ranks *r, const struct step *s)
{
    static const uint32_t counts[] = {4, 60, 700, 3000};
    uint32_t rank = s->what & 1, other = s->place >> 8 & 7;
    struct accl_call call = {.size = sizeof call,
                             .operation = ACCL_COPY + (s->what >> 1 & 15),
                             .count = counts[s->place & 3],
                             .comm = (s->place >> 2 & 3) % COMMUNICATORS,
                             .root_src_dst = s->place >> 4 & 1,
                             .dtype = s->place >> 5 & 1 ? ACCL_INT64 : ACCL_FLOAT32,
                             .tag = s->place >> 6 & 1 ? 3 : ACCL_TAG_ANY};
    uint32_t retcode;
    if (call.dtype == ACCL_FLOAT32 && other < 2) {
        call.compressed_dtype = ACCL_FLOAT16;
        call.compression_flags =
            other ? ACCL_ETH_COMPRESSED | ACCL_RES_COMPRESSED : ACCL_ETH_COMPRESSED;
    }
    if (call.operation == ACCL_SEND && call.tag == 3)
        call.stream_flags = ACCL_RES_STREAM;
    call.address[0] = call.address[1] = call.address[2] = accl_buffer_address(r->buffer[rank]);
    int status = accl_call_sync(r->device[rank], &call, &retcode);
    require(status == ACCL_OK || (status == ACCL_CALL_FAILED && retcode), "a call ends");
    require(status == ACCL_OK || accl_error_message()[0], "says why it failed");
}

static void look(const struct ranks *r, const struct step *s)
{
    char text[4096];
    size_t needed;
    uint32_t stream;
    accl_device *device = r->device[s->what & 1];
    struct accl_call reset = {.size = sizeof reset, .operation = ACCL_CONFIG};
    require(accl_dump_rx_buffers(device, text, sizeof text, &needed) == ACCL_OK, "dumps");
    require(accl_dump_waits(device, text, sizeof text, &needed) == ACCL_OK, "dumps waits");
    accl_stream_pull(device, &stream, text, sizeof text, &needed, 0);
    if (s->what & 2)
        require(accl_call_sync(device, &reset, NULL) == ACCL_OK, "resets");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned number;
    char job[32];
    struct ranks r;
    snprintf(job, sizeof job, "fuzz %d %u", (int)getpid(), number++);
    for (uint32_t i = 0; i < RANKS; i++)
        open_rank(&r, i, job);
    meet(&r);
    for (uint32_t i = 0; i < RANKS; i++)
        set_timeout(r.device[i], 1);

    for (int steps = 0; size >= 4 && steps < STEPS_MOST; steps++) {
        struct step s = {.what = data[0],
                         .place = data[1] | (uint32_t)data[2] << 8,
                         .data = data + 4,
                         .n = data[3]};
        data += 4;
        size -= 4;
        if (s.what < 128) {
            s.n = s.n < size ? s.n : size;
            write_nonsense(&r, &s);
            data += s.n;
            size -= s.n;
        } else if (s.what < 224) {
            call(&r, &s);
        } else {
            look(&r, &s);
        }
    }

    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(r.device[i]);
        accl_buffer_free(r.buffer[i]);
    }
    return 0;
}
