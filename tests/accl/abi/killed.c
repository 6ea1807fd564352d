/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * A rank is killed while all make collective calls: the others must have an error within a second
 * of its death. With "absent", one of them makes no more calls, and the other waits for both: it
 * learns of the death by itself. usage: killed ROUNDS SEED [absent]
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ranks.h"

#define RANKS 3
#define START_S 60 /* for the first calls of all ranks */

static char job[64];
static uint32_t operation;
static double *failed_at;       /* by rank, shared */
static _Atomic int *going;      /* ranks that have made a few calls */
static uint32_t absent = RANKS; /* the rank that makes no more, if there is one */
static uint32_t waiting;        /* the one that waits for it */

static void body(uint32_t rank)
{
    struct rank r;
    uint64_t count = 40000;
    rank_open(&r, job, rank, RANKS, ACCL_MEMORY_UNIFIED, 4, 1024);
    accl_buffer *s, *d;
    CHECK(accl_buffer_create(r.device, count * 4 * RANKS, 0, ACCL_BUFFER_ZERO, &s) == ACCL_OK);
    CHECK(accl_buffer_create(r.device, count * 4 * RANKS, 0, ACCL_BUFFER_ZERO, &d) == ACCL_OK);
    for (uint64_t i = 0;; i++) {
        struct accl_call call = make_call(operation, i % 2 ? count : 5, ACCL_FLOAT32);
        call.root_src_dst = (uint32_t)(i % RANKS);
        call.address[0] = accl_buffer_address(s);
        call.address[2] = accl_buffer_address(d);
        uint32_t bits = run_call(&r, &call);
        if (i == 5)
            atomic_fetch_add(going, 1);
        if (i == 5 && rank == absent) {
            while (*(volatile double *)&failed_at[waiting] == 0)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            break;
        }
        if (!bits)
            continue;
        failed_at[rank] = seconds();
        if (!(bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(PEER_GAVE_UP_ERROR)))) {
            fprintf(stderr, "error 0x%x: %s\n", bits, accl_error_message());
            _Exit(1);
        }
        break;
    }
    rank_close(&r);
    accl_buffer_free(s);
    accl_buffer_free(d);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3 || (argc == 4 && strcmp(argv[3], "absent") == 0));
    int rounds = atoi(argv[1]);
    srand((unsigned)atoi(argv[2]));
    failed_at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(failed_at != MAP_FAILED);
    going = (_Atomic int *)(void *)(failed_at + RANKS);
    for (int round = 0; round < rounds; round++) {
        pid_t pids[RANKS];
        /* The same name every time: nothing of the job before may be in the way. */
        snprintf(job, sizeof job, "killed %d", (int)getpid());
        operation = ACCL_BCAST + (uint32_t)round % 9;
        uint32_t victim = (uint32_t)rand() % RANKS;
        if (argc == 4) {
            absent = (uint32_t)round % RANKS;
            victim = (absent + 1 + (uint32_t)round / RANKS % 2) % RANKS;
            waiting = RANKS - absent - victim;
        }
        memset(failed_at, 0, RANKS * sizeof *failed_at);
        atomic_store(going, 0);
        fflush(NULL);
        if (by_packets())
            pump_connect(RANKS);
        for (uint32_t i = 0; i < RANKS; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                if (by_packets())
                    pump_keep(i, RANKS);
                body(i);
                _exit(0);
            }
            CHECK(pids[i] > 0);
        }
        if (by_packets())
            pump_keep(RANKS, RANKS);
        struct timespec ts = {.tv_nsec = rand() % 50000000};
        double start = seconds();
        while (atomic_load(going) < RANKS) {
            if (seconds() - start > START_S) {
                fprintf(stderr, "operation %u: %d of %d ranks made calls in %d s\n", operation,
                        atomic_load(going), RANKS, START_S);
                for (uint32_t i = 0; i < RANKS; i++)
                    kill(pids[i], SIGKILL);
                return 1;
            }
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        nanosleep(&ts, NULL);
        kill(pids[victim], SIGKILL);
        double killed = seconds();
        for (uint32_t i = 0; i < RANKS; i++) {
            int status = -1;
            waitpid(pids[i], &status, 0);
            if (i == victim)
                continue;
            CHECK(status == 0);
            if (failed_at[i] - killed > 1) {
                fprintf(stderr, "operation %u: rank %u noticed after %.2f s\n", operation, i,
                        failed_at[i] - killed);
                return 1;
            }
        }
    }
    puts("ok");
    return 0;
}
