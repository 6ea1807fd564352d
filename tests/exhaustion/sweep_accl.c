/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaccl without memory: two ranks of one process, and every call that works. By packets with
 * ACCL_TRANSPORT=packets. usage: sweep_accl once|on FIRST STEP
 */
#include "failing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl.h"

/*
 * Large: more than all rx buffers hold. A call of a rank waits for a call of the other that failed
 * until its time limit; before a failure was told of, only a fault can need a limit.
 */
enum {
    RANKS = 2,
    NBUFS = 4,
    BUFSIZE = 1024,
    SMALL = 200,
    LARGE = 5000,
    LIMIT_MS = 3000,
    LIMIT_AFTER_FAILURE_MS = 200
};

struct rank {
    accl_device *device;
    accl_buffer *source, *result;
    uint32_t number, comm;
};

struct job {
    struct rank ranks[RANKS];
    pthread_t carrier;
    atomic_bool stops;
    bool by_packets;
};

static bool worked(int status, const char *call)
{
    return told(status == ACCL_OK, call,
                status == ACCL_NO_MEMORY ? "out of memory" : accl_error_message());
}

/* --- packets --- */

static void carry(struct job *job, uint32_t from)
{
    struct accl_packet out = {.size = sizeof out}, in = {.size = sizeof in};
    while (accl_packet_next(job->ranks[from].device, &out) == ACCL_OK) {
        accl_device *other = job->ranks[out.rank].device;
        if (accl_packet_space(other, out.bytes, &in) == ACCL_OK) {
            memcpy(in.data, out.data, out.bytes);
            accl_packet_arrived(other, from, in.id);
        } else {
            /* Packets must not be missing. */
            accl_packet_lost(other, from, "out of memory for a packet");
            accl_packet_lost(job->ranks[from].device, out.rank, "out of memory for a packet");
        }
        accl_packet_done(job->ranks[from].device, out.id);
    }
}

static void *carrier(void *argument)
{
    struct job *job = argument;
    while (!atomic_load(&job->stops)) {
        for (uint32_t i = 0; i < RANKS; i++)
            carry(job, i);
        usleep(50);
    }
    return NULL;
}

static void start_carrier(struct job *job)
{
    failing_spare(true);
    if (pthread_create(&job->carrier, NULL, carrier, job) != 0)
        abort();
    failing_spare(false);
}

static void stop_carrier(struct job *job)
{
    uint64_t left;
    for (uint32_t i = 0; i < RANKS; i++)
        accl_packet_leave(job->ranks[i].device);
    for (uint32_t i = 0; i < RANKS; i++)
        while (accl_packet_outstanding(job->ranks[i].device, &left) == ACCL_OK && left != 0)
            usleep(50);
    atomic_store(&job->stops, true);
    pthread_join(job->carrier, NULL);
}

/* --- calls --- */

static int set_limit(accl_device *device, uint64_t milliseconds)
{
    struct accl_call limit = {.size = sizeof limit,
                              .operation = ACCL_CONFIG,
                              .function = ACCL_CFG_TIMEOUT,
                              .count = milliseconds};
    return accl_call_sync(device, &limit, NULL);
}

static struct accl_call call_of(uint32_t operation, const struct rank *r, uint64_t count)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = count,
                             .comm = r->comm,
                             .dtype = ACCL_INT32,
                             .tag = ACCL_TAG_ANY};
    call.address[0] = accl_buffer_address(r->source);
    call.address[1] = accl_buffer_address(r->source);
    call.address[2] = accl_buffer_address(r->result);
    return call;
}

static bool run(const struct rank *r, const struct accl_call *call, const char *name)
{
    uint32_t bits = 0;
    return worked(accl_call_sync(r->device, call, &bits), name);
}

/* The call of rank 1 by its own thread, and that of rank 0 by this one. */
static void both(const struct job *job, struct accl_call first, struct accl_call second,
                 const char *name)
{
    accl_request *request;
    for (uint32_t i = 0; failure_told() && i < RANKS; i++)
        set_limit(job->ranks[i].device, LIMIT_AFTER_FAILURE_MS);
    if (!worked(accl_call_start(job->ranks[1].device, &second, NULL, 0, &request), name))
        return;
    uint32_t bits = 0;
    char text[2000], why[1000];
    int one = accl_call_sync(job->ranks[0].device, &first, &bits);
    snprintf(why, sizeof why, "%s", one == ACCL_NO_MEMORY ? "out of memory" : accl_error_message());
    int other = accl_request_wait(request, -1);
    /* One of them failed because the other did. */
    snprintf(text, sizeof text, "%s; %s", why, accl_request_message(request));
    told(one == ACCL_OK && other == ACCL_OK, name, text);
    accl_request_free(request);
}

static void collective(const struct job *job, uint32_t operation, uint64_t count, const char *name)
{
    both(job, call_of(operation, &job->ranks[0], count), call_of(operation, &job->ranks[1], count),
         name);
}

static void messages(const struct job *job, uint64_t count)
{
    struct accl_call send = call_of(ACCL_SEND, &job->ranks[0], count);
    struct accl_call receive = call_of(ACCL_RECV, &job->ranks[1], count);
    send.root_src_dst = 1;
    receive.root_src_dst = 0;
    both(job, send, receive, "a message");
    send.compressed_dtype = receive.compressed_dtype = ACCL_FLOAT16;
    send.dtype = receive.dtype = ACCL_FLOAT32;
    send.compression_flags = receive.compression_flags = ACCL_ETH_COMPRESSED;
    both(job, send, receive, "a compressed message");
}

static void streams(const struct job *job)
{
    static const int32_t data[SMALL];
    static int32_t back[SMALL];
    uint32_t stream;
    size_t bytes;
    const struct rank *r = &job->ranks[0];
    struct accl_call copy = call_of(ACCL_COPY, r, SMALL);
    copy.stream_flags = ACCL_OP0_STREAM | ACCL_RES_STREAM;
    if (!worked(accl_stream_mode(r->device, ACCL_STREAM_QUEUE, NULL, NULL), "accl_stream_mode") ||
        !worked(accl_stream_push(r->device, data, sizeof data), "accl_stream_push") ||
        !run(r, &copy, "a copy of a stream"))
        return;
    worked(accl_stream_pull(r->device, &stream, back, sizeof back, &bytes, 0), "accl_stream_pull");
}

static void dumps(const struct job *job)
{
    static char text[1 << 16];
    accl_device *device = job->ranks[0].device;
    worked(accl_dump_rx_buffers(device, text, sizeof text, NULL), "accl_dump_rx_buffers");
    worked(accl_dump_communicator(device, 0, text, sizeof text, NULL), "accl_dump_communicator");
    worked(accl_dump_exchange_memory(device, text, sizeof text, NULL), "accl_dump_exchange_memory");
    worked(accl_dump_waits(device, text, sizeof text, NULL), "accl_dump_waits");
}

static void all_calls(const struct job *job)
{
    static const struct {
        uint32_t operation;
        const char *name;
    } collectives[] = {
        {ACCL_BARRIER, "barrier"},     {ACCL_BCAST, "bcast"},
        {ACCL_SCATTER, "scatter"},     {ACCL_GATHER, "gather"},
        {ACCL_REDUCE, "reduce"},       {ACCL_ALLGATHER, "allgather"},
        {ACCL_ALLREDUCE, "allreduce"}, {ACCL_REDUCE_SCATTER, "reduce_scatter"},
        {ACCL_ALLTOALL, "alltoall"},
    };
    struct accl_call local = call_of(ACCL_COMBINE, &job->ranks[0], SMALL);
    run(&job->ranks[0], &local, "combine");
    messages(job, SMALL);
    messages(job, LARGE);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        collective(job, collectives[i].operation, SMALL, collectives[i].name);
        collective(job, collectives[i].operation, LARGE, collectives[i].name);
    }
    streams(job);
    dumps(job);
}

/* --- a job --- */

static bool set_up(struct rank *r, uint32_t number, const char *name)
{
    struct accl_config config = {.size = sizeof config, .job = name};
    struct accl_rank ranks[RANKS];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (struct accl_rank){
            .ip = 0x7F000001, .port = 9000 + i, .session = i, .max_segment_size = BUFSIZE};
    r->number = number;
    uint64_t bytes = (uint64_t)LARGE * RANKS * 4;
    uint32_t id;
    int fd;
    return worked(accl_open(&config, &r->device), "accl_open") &&
           worked(accl_setup_rx_buffers(r->device, NBUFS, BUFSIZE), "accl_setup_rx_buffers") &&
           worked(accl_create_communicator(r->device, ranks, RANKS, number, &id),
                  "accl_create_communicator") &&
           worked(set_limit(r->device, LIMIT_MS), "the time limit") &&
           worked(accl_completion_fd(r->device, &fd), "accl_completion_fd") &&
           worked(accl_buffer_create(r->device, bytes, 0, ACCL_BUFFER_ZERO, &r->source),
                  "accl_buffer_create") &&
           worked(accl_buffer_create(r->device, bytes, 0, 0, &r->result), "accl_buffer_create");
}

static bool split(struct job *job)
{
    const uint32_t indices[RANKS] = {0, 1};
    for (uint32_t i = 0; i < RANKS; i++)
        if (!worked(accl_split_communicator(job->ranks[i].device, 0, indices, RANKS,
                                            &job->ranks[i].comm),
                    "accl_split_communicator"))
            return false;
    return true;
}

static void try_all(void)
{
    static int number;
    struct job job = {.by_packets = false};
    const char *transport = getenv("ACCL_TRANSPORT");
    char name[64];
    snprintf(name, sizeof name, "sweep %d %d", (int)getpid(), number++);
    bool ready = true;
    for (uint32_t i = 0; i < RANKS; i++)
        ready = ready && set_up(&job.ranks[i], i, name);
    job.by_packets = ready && transport != NULL && strcmp(transport, "packets") == 0;
    if (job.by_packets)
        start_carrier(&job);
    if (ready) {
        all_calls(&job);
        if (split(&job)) {
            collective(&job, ACCL_ALLREDUCE, SMALL, "allreduce of another communicator");
            messages(&job, SMALL);
        }
    }
    if (job.by_packets)
        stop_carrier(&job);
    for (uint32_t i = 0; i < RANKS; i++)
        accl_close(job.ranks[i].device);
    for (uint32_t i = 0; i < RANKS; i++) {
        accl_buffer_free(job.ranks[i].source);
        accl_buffer_free(job.ranks[i].result);
    }
}

int main(int argc, char *argv[])
{
    return sweep(argc, argv, try_all);
}
