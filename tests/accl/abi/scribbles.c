/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * One of three ranks writes nonsense into the memory files, its own and those that it has mapped,
 * while all of them communicate: calls may fail, but every rank ends in time and by itself.
 * usage: scribbles ROUNDS SEED
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "ranks.h"

#define RANKS 3
#define COMMUNICATORS 24
#define ROUND_SECONDS 0.15
#define LIMIT_SECONDS 30

static char job[64];

struct numbers {
    uint64_t state;
};

static uint64_t pick(struct numbers *numbers, uint64_t below)
{
    numbers->state = numbers->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = (numbers->state ^ numbers->state >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return (mixed ^ mixed >> 29) % below;
}

/* --- the nonsense --- */

struct mapping {
    uint8_t *base;
    size_t bytes;
};

static size_t find_memory_files(struct mapping *found, size_t most)
{
    char line[512];
    size_t n = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(maps != NULL);
    while (n < most && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, "offchip-accl") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            found[n++] = (struct mapping){(uint8_t *)from, to - from};
    }
    fclose(maps);
    return n;
}

static uint64_t nonsense(struct numbers *numbers)
{
    static const uint64_t values[] = {
        0,       1,     2,          3,         5,          64,        255,
        4096,    65536, UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63,
        1 << 20, 7};
    uint64_t value = values[pick(numbers, sizeof values / sizeof *values)];
    return pick(numbers, 3) ? value : pick(numbers, UINT64_MAX);
}

/* Through the kernel: the file may be unmapped since it was found, as that of a rank is whose
 * header has nonsense already when it is met. */
static void scribble(struct numbers *numbers, const struct mapping *file, int memory)
{
    static const size_t ends[] = {512, 1024, 65536 + 8192, 65536 + 32768, 400000};
    size_t end = ends[pick(numbers, sizeof ends / sizeof *ends)];
    size_t at = (size_t)pick(numbers, end < file->bytes ? end : file->bytes) & ~(size_t)3;
    uint64_t value = nonsense(numbers);
    size_t bytes = pick(numbers, 2) ? 4 : 8;
    off_t place = (off_t)(uintptr_t)(file->base + at);
    CHECK(pwrite(memory, &value, bytes, place) == (ssize_t)bytes || errno == EIO);
}

static void *vandal_main(void *argument)
{
    struct numbers numbers = {*(const uint64_t *)argument};
    struct mapping files[2 * RANKS];
    double end = seconds() + ROUND_SECONDS;
    int memory = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
    CHECK(memory >= 0);
    while (seconds() < end) {
        /* Files of other ranks appear as these are met. */
        size_t n = find_memory_files(files, 2 * RANKS);
        for (int i = 0; n && i < 40; i++)
            scribble(&numbers, &files[pick(&numbers, n)], memory);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    close(memory);
    return NULL;
}

/* --- the ranks --- */

struct work {
    struct rank rank;
    accl_buffer *source, *result;
    uint32_t communicator;
    struct numbers numbers;
};

static void one_call(struct work *w)
{
    static const uint32_t counts[] = {1, 5, 60, 300, 700, 5000};
    struct numbers *numbers = &w->numbers;
    uint32_t operation = ACCL_SEND + (uint32_t)pick(numbers, ACCL_ALLTOALL - ACCL_SEND + 1);
    struct accl_call call = make_call(operation, counts[pick(numbers, 6)], ACCL_FLOAT32);
    call.comm = w->communicator;
    call.root_src_dst = (uint32_t)pick(numbers, RANKS);
    if (operation == ACCL_SEND || operation == ACCL_RECV)
        call.root_src_dst = (w->rank.rank + (operation == ACCL_SEND ? 1 : RANKS - 1)) % RANKS;
    if (operation == ACCL_SEND && pick(numbers, 4) == 0) {
        call.stream_flags = ACCL_RES_STREAM;
        call.tag = 3;
    }
    if (pick(numbers, 3) == 0) {
        call.compressed_dtype = ACCL_FLOAT16;
        call.compression_flags = ACCL_ETH_COMPRESSED;
    }
    call.address[0] = accl_buffer_address(w->source);
    call.address[2] = accl_buffer_address(w->result);
    if (run_call(&w->rank, &call) && w->communicator + 1 < COMMUNICATORS)
        w->communicator++;
}

static void look(struct work *w)
{
    char text[4096];
    size_t needed;
    uint32_t stream;
    CHECK(accl_dump_waits(w->rank.device, text, sizeof text, &needed) == ACCL_OK);
    CHECK(accl_dump_rx_buffers(w->rank.device, text, sizeof text, &needed) == ACCL_OK);
    accl_stream_pull(w->rank.device, &stream, text, sizeof text, &needed, 0);
}

static void body(uint32_t rank, uint64_t seed)
{
    /* The ranks choose the same calls. */
    struct work w = {.numbers = {seed}};
    uint64_t nonsense_seed = seed + 1000;
    const uint32_t all[] = {0, 1, 2};
    pthread_t vandal;
    uint32_t id;
    /* Little memory, so that what goes beyond it is not there. */
    struct accl_config config = {.size = sizeof config,
                                 .memory_mode = ACCL_MEMORY_UNIFIED,
                                 .memory_bytes = UINT64_C(2) << 20,
                                 .job = job};
    rank_open_as(&w.rank, &config, rank, RANKS, 4, 1024);
    set_timeout(&w.rank, 40);
    CHECK(accl_stream_mode(w.rank.device, ACCL_STREAM_QUEUE, NULL, NULL) == ACCL_OK);
    for (int i = 1; i < COMMUNICATORS; i++)
        CHECK(accl_split_communicator(w.rank.device, 0, all, RANKS, &id) == ACCL_OK);
    CHECK(accl_buffer_create(w.rank.device, 60000, 0, ACCL_BUFFER_ZERO, &w.source) == ACCL_OK);
    CHECK(accl_buffer_create(w.rank.device, 60000, 0, ACCL_BUFFER_ZERO, &w.result) == ACCL_OK);
    bool vandalises = rank == seed % RANKS;
    if (vandalises)
        CHECK(pthread_create(&vandal, NULL, vandal_main, &nonsense_seed) == 0);
    double end = seconds() + ROUND_SECONDS;
    while (seconds() < end) {
        one_call(&w);
        look(&w);
    }
    if (vandalises)
        pthread_join(vandal, NULL);
    rank_close(&w.rank);
    accl_buffer_free(w.source);
    accl_buffer_free(w.result);
}

/* Waits for PID; false if it was killed, failed, or does not end. */
static bool ends_well(pid_t pid, double deadline, const char **how)
{
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && seconds() < deadline)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        *how = "does not end";
    } else if (WIFSIGNALED(status)) {
        *how = strsignal(WTERMSIG(status));
    } else {
        *how = "failed";
    }
    return ended == pid && status == 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    int rounds = atoi(argv[1]), bad = 0;
    uint64_t first = strtoull(argv[2], NULL, 0);
    for (int round = 0; round < rounds; round++) {
        pid_t pids[RANKS];
        snprintf(job, sizeof job, "scribbles %d %d", (int)getpid(), round);
        fflush(NULL);
        for (uint32_t i = 0; i < RANKS; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                body(i, first + (uint64_t)round);
                _exit(0);
            }
            CHECK(pids[i] > 0);
        }
        double deadline = seconds() + LIMIT_SECONDS;
        for (uint32_t i = 0; i < RANKS; i++) {
            const char *how;
            if (ends_well(pids[i], deadline, &how))
                continue;
            fprintf(stderr, "seed %llu: rank %u: %s\n",
                    (unsigned long long)(first + (uint64_t)round), i, how);
            bad++;
        }
    }
    if (bad) {
        fprintf(stderr, "%d of %d ranks\n", bad, rounds * RANKS);
        return 1;
    }
    puts("ok");
    return 0;
}
