/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Barriers of ranks that share cores: those wait until the first rank is through. Four processes
 * bound to one core, or not. usage: crowded CORES
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ranks.h"

#ifdef __SANITIZE_THREAD__
enum { RANKS = 4, ROUNDS = 500 };
#else
enum { RANKS = 4, ROUNDS = 2000 };
#endif

static int cores;
static char job[64];
static _Atomic uint32_t *arrived;

static void barrier(const struct rank *r)
{
    struct accl_call call = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(r, &call) == 0);
}

/* Nobody leaves before the last has come; what the first sends next gets to everybody. */
static void in_step(const struct rank *r)
{
    accl_buffer *b;
    CHECK(accl_buffer_create(r->device, 4, ACCL_INT32, 0, &b) == ACCL_OK);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        atomic_fetch_add(arrived, 1);
        barrier(r);
        CHECK(atomic_load(arrived) >= round * RANKS);
        struct accl_call call = make_call(ACCL_BCAST, 1, ACCL_INT32);
        call.root_src_dst = round % RANKS;
        call.address[0] = accl_buffer_address(b);
        int32_t value = r->rank == call.root_src_dst ? (int32_t)round : -1;
        CHECK(accl_memory_write(r->device, call.address[0], &value, 4) == ACCL_OK);
        CHECK(run_call(r, &call) == 0);
        CHECK(accl_memory_read(r->device, call.address[0], &value, 4) == ACCL_OK);
        CHECK(value == (int32_t)round);
        barrier(r);
    }
    accl_buffer_free(b);
}

/* Rank 2 does not come: everybody says so, although they wait for the first rank. */
static void one_missing(const struct rank *r)
{
    set_timeout(r, 300);
    struct accl_call call = make_call(ACCL_BARRIER, 0, 0);
    if (r->rank == 2) {
        usleep(1500000);
        return;
    }
    uint32_t bits = run_call(r, &call);
    if (bits != ACCL_ERROR(PEER_GAVE_UP_ERROR)) { /* somebody else's time was over first */
        CHECK(bits & ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
        CHECK(strstr(accl_error_message(), "rank 2 did not come"));
    }
}

/* A rank that closes is lost to those whose time is not over yet: all get their answers first. */
static void all_are_done(void)
{
    atomic_fetch_add(arrived, 1);
    for (int ms = 0; ms < 10000 && atomic_load(arrived) < (ROUNDS + 1) * RANKS; ms++)
        usleep(1000);
}

static void body(uint32_t rank, uint32_t n)
{
    struct rank r;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 16, 1024);
    set_timeout(&r, 60000);
    in_step(&r);
    one_missing(&r);
    all_are_done();
    rank_close(&r);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    cores = atoi(argv[1]);
    cpu_set_t usable, some;
    CHECK(sched_getaffinity(0, sizeof usable, &usable) == 0);
    CPU_ZERO(&some);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < cores; i++)
        if (CPU_ISSET(i, &usable))
            CPU_SET(i, &some);
    CHECK(sched_setaffinity(0, sizeof some, &some) == 0);
    arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(arrived != MAP_FAILED);
    snprintf(job, sizeof job, "crowded %d", (int)getpid());
    run_ranks(RANKS, body);
    puts("ok");
    return 0;
}
