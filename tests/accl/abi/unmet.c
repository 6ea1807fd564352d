/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * A rank is killed, or leaves, before the others have met it: their first calls fail within a
 * second, where the time limit is much longer. A rank that starts later learns of it from one that
 * saw it. usage: unmet
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ranks.h"

#define RANKS 3
#define TIME_LIMIT_MS 60000

/* In what order the ranks come, which one is killed, and what the others call. */
struct plan {
    uint32_t order[RANKS];
    uint32_t victim;
    uint32_t operation;
    uint32_t early; /* that many have come when the victim is killed, and the others come later */
    int leaves;     /* it closes its device, and is not killed */
};

static const struct plan plans[] = {
    {{0, 1, 2}, 0, ACCL_BARRIER, 0, 0},   {{0, 1, 2}, 2, ACCL_BARRIER, 0, 0},
    {{2, 1, 0}, 1, ACCL_ALLREDUCE, 0, 0}, {{1, 2, 0}, 0, ACCL_RECV, 0, 0},
    {{1, 0, 2}, 1, ACCL_RECV, 0, 0},      {{0, 1, 2}, 2, ACCL_SEND, 0, 0},
    {{2, 0, 1}, 2, ACCL_BCAST, 0, 0},     {{0, 2, 1}, 1, ACCL_SEND, 0, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, 0},   {{2, 0, 1}, 0, ACCL_ALLREDUCE, 2, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, 1},   {{0, 1, 2}, 1, ACCL_RECV, 2, 1},
};

static char job[64];
static _Atomic uint32_t *come, *killed, *answered;

static void wait_for(const _Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) < value)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void body(const struct plan *plan, uint32_t rank)
{
    struct rank r;
    uint32_t turn = 0;
    accl_buffer *buffer;
    while (plan->order[turn] != rank)
        turn++;
    if (plan->early && turn >= plan->early)
        wait_for(killed, 1);
    wait_for(come, turn);
    rank_open(&r, job, rank, RANKS, ACCL_MEMORY_UNIFIED, 4, 1024);
    CHECK(accl_buffer_create(r.device, 4096, 0, ACCL_BUFFER_ZERO, &buffer) == ACCL_OK);
    set_timeout(&r, TIME_LIMIT_MS);
    atomic_fetch_add(come, 1);
    if (plan->leaves && rank == plan->victim) {
        wait_for(come, plan->early);
        rank_close(&r);
        _exit(0);
    }
    wait_for(killed, 1);
    double began = seconds();
    struct accl_call call = make_call(plan->operation, 10, ACCL_FLOAT32);
    call.root_src_dst = plan->victim;
    call.address[0] = call.address[2] = accl_buffer_address(buffer);
    uint32_t bits = run_call(&r, &call);
    double took = seconds() - began;
    atomic_fetch_add(answered, 1);
    if (!(bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(PEER_GAVE_UP_ERROR))) || took > 5) {
        fprintf(stderr, "operation %u, rank %u killed: rank %u has 0x%x after %.2f s: %s\n",
                plan->operation, plan->victim, rank, bits, took, accl_error_message());
        _Exit(1);
    }
    /* One that starts late may have it from this rank alone. */
    wait_for(answered, RANKS - 1);
    rank_close(&r);
    accl_buffer_free(buffer);
}

int main(void)
{
    come = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(come != MAP_FAILED);
    killed = come + 1;
    answered = come + 2;
    /* The same name every time: nothing of the job before may be in the way. */
    snprintf(job, sizeof job, "unmet %d", (int)getpid());
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        pid_t pids[RANKS];
        atomic_store(come, 0);
        atomic_store(killed, 0);
        atomic_store(answered, 0);
        fflush(NULL);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            pids[rank] = fork();
            if (pids[rank] == 0) {
                body(&plans[i], rank);
                _exit(0);
            }
            CHECK(pids[rank] > 0);
        }
        wait_for(come, plans[i].early ? plans[i].early : RANKS);
        if (!plans[i].leaves)
            kill(pids[plans[i].victim], SIGKILL);
        int status = -1, bad = 0;
        waitpid(pids[plans[i].victim], &status, 0);
        atomic_store(killed, 1);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (rank == plans[i].victim)
                continue;
            waitpid(pids[rank], &status, 0);
            bad |= status;
        }
        CHECK(bad == 0);
    }
    puts("ok");
    return 0;
}
