/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as processes: each runs the same function on a device of its own. */
#ifndef ACCL_TEST_RANKS_H
#define ACCL_TEST_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "accl.h"
#include "pump.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, \
                    accl_error_message()); \
            _Exit(1); \
        } \
    } while (0)

struct rank {
    accl_device *device;
    uint32_t rank, n;
    struct pump *pump; /* if ranks are reached by packets */
};

/* The host of a rank: they count as on several if RANKS_PER_HOST is set. */
static inline uint32_t host_of(uint32_t rank)
{
    const char *each = getenv("RANKS_PER_HOST");
    return each ? rank / (uint32_t)atoi(each) : 0;
}

/* Returns true if some ranks may share no memory. */
static inline int by_packets(void)
{
    const char *transport = getenv("ACCL_TRANSPORT");
    return getenv("RANKS_PER_HOST") || (transport && strcmp(transport, "packets") == 0);
}

/* Returns true if some of N ranks share no memory. */
static inline int are_apart(uint32_t n)
{
    return by_packets() && n > 1 && (!getenv("RANKS_PER_HOST") || host_of(n - 1));
}

static inline void rank_open_as(struct rank *r, const struct accl_config *config, uint32_t rank,
                                uint32_t n, uint32_t nbufs, uint64_t bufsize)
{
    struct accl_rank ranks[64];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < n; i++) {
        ranks[i].ip = 0x7F000001 + host_of(i);
        ranks[i].port = 9000 + i;
        ranks[i].session = i;
        ranks[i].max_segment_size = (uint32_t)bufsize;
    }
    r->rank = rank;
    r->n = n;
    uint32_t id = 99;
    CHECK(accl_open(config, &r->device) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(r->device, nbufs, bufsize) == ACCL_OK);
    CHECK(accl_create_communicator(r->device, ranks, n, rank, &id) == ACCL_OK);
    CHECK(id == 0);
    r->pump = are_apart(n) ? pump_start(r->device, rank, n) : NULL;
}

static inline void rank_open(struct rank *r, const char *job, uint32_t rank, uint32_t n,
                             uint32_t mode, uint32_t nbufs, uint64_t bufsize)
{
    struct accl_config config = {.size = sizeof config, .memory_mode = mode, .job = job};
    rank_open_as(r, &config, rank, n, nbufs, bufsize);
}

static inline void rank_close(struct rank *r)
{
    if (r->pump)
        pump_stop(r->pump);
    accl_close(r->device);
}

static inline struct accl_call make_call(uint32_t operation, uint64_t count, uint32_t dtype)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = count,
                             .dtype = dtype,
                             .tag = ACCL_TAG_ANY};
    return call;
}

static inline uint32_t run_call(const struct rank *r, const struct accl_call *call)
{
    uint32_t retcode = 0;
    int status = accl_call_sync(r->device, call, &retcode);
    CHECK(status == ACCL_OK || (status == ACCL_CALL_FAILED && retcode != 0));
    return retcode;
}

static inline void set_timeout(const struct rank *r, uint32_t ms)
{
    struct accl_call call = make_call(ACCL_CONFIG, ms, 0);
    call.function = ACCL_CFG_TIMEOUT;
    CHECK(run_call(r, &call) == 0);
}

static inline double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Starts N processes, each of which runs BODY and ends with status 0. */
static inline void run_ranks(uint32_t n, void (*body)(uint32_t rank, uint32_t n))
{
    pid_t pids[64];
    fflush(NULL);
    if (by_packets())
        pump_connect(n);
    for (uint32_t i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            if (by_packets())
                pump_keep(i, n);
            body(i, n);
            exit(0);
        }
        CHECK(pids[i] > 0);
    }
    if (by_packets())
        pump_keep(n, n);
    int bad = 0;
    for (uint32_t i = 0; i < n; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        bad |= status;
    }
    CHECK(bad == 0);
}

#endif
