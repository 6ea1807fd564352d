/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * A rank is killed, or leaves, before the others have met it: their first calls fail within a
 * second, where the time limit is much longer. A rank that starts later learns of it from one that
 * saw it, also where that one, or the victim, did not run at the time. usage: unmet
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "ranks.h"

#define RANKS 3
#define TIME_LIMIT_MS 10000

/* The one of those that come that is stopped, as on a busy machine, from when its device is open.
 */
enum stopped {
    NOBODY = 0,
    FIRST = 1,  /* it answers nobody; until it leaves, or the last one came */
    SECOND = 2, /* it has introduced itself to the first; until the last one came */
    BOTH = FIRST | SECOND,
};

/* In what order the ranks come, which one is killed, and what the others call. */
struct plan {
    uint32_t order[RANKS];
    uint32_t victim;
    uint32_t operation;
    uint32_t early; /* that many have come when the victim is killed, and the others come later */
    enum {
        DIES,
        LEAVES, /* closes its device, and lives on */
        FADES,  /* cannot be reached any more, and dies when the others have asked for it */
    } how;
    enum stopped stopped;
    int ms; /* so long before it ends */
};

static const struct plan plans[] = {
    {{0, 1, 2}, 0, ACCL_BARRIER, 0, DIES, NOBODY, 0},
    {{0, 1, 2}, 2, ACCL_BARRIER, 0, DIES, NOBODY, 0},
    {{2, 1, 0}, 1, ACCL_ALLREDUCE, 0, DIES, NOBODY, 0},
    {{1, 2, 0}, 0, ACCL_RECV, 0, DIES, NOBODY, 0},
    {{1, 0, 2}, 1, ACCL_RECV, 0, DIES, NOBODY, 0},
    {{0, 1, 2}, 2, ACCL_SEND, 0, DIES, NOBODY, 0},
    {{2, 0, 1}, 2, ACCL_BCAST, 0, DIES, NOBODY, 0},
    {{0, 2, 1}, 1, ACCL_SEND, 0, DIES, NOBODY, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, DIES, NOBODY, 0},
    {{2, 0, 1}, 0, ACCL_ALLREDUCE, 2, DIES, NOBODY, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, LEAVES, NOBODY, 0},
    {{0, 1, 2}, 1, ACCL_RECV, 2, LEAVES, NOBODY, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, DIES, SECOND, 0},
    {{0, 1, 2}, 0, ACCL_ALLREDUCE, 2, DIES, BOTH, 0},
    {{1, 2, 0}, 1, ACCL_RECV, 2, DIES, BOTH, 0},
    {{1, 2, 0}, 1, ACCL_RECV, 2, LEAVES, SECOND, 0},
    {{2, 1, 0}, 2, ACCL_RECV, 2, DIES, FIRST, 0},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, DIES, FIRST, 1200},
    {{1, 2, 0}, 1, ACCL_BARRIER, 2, LEAVES, FIRST, 0},
    {{0, 2, 1}, 0, ACCL_RECV, 2, LEAVES, FIRST, 0},
    {{2, 0, 1}, 2, ACCL_BCAST, 2, LEAVES, FIRST, 0},
    {{0, 1, 2}, 1, ACCL_RECV, 2, LEAVES, FIRST, 0},
    {{1, 2, 0}, 1, ACCL_RECV, 2, FADES, NOBODY, 200},
    {{0, 1, 2}, 0, ACCL_BARRIER, 2, FADES, NOBODY, 200},
};

static char job[64];
static _Atomic uint32_t *begin, *come, *ending, *ended, *answered;

static void wait_for(const _Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) < value)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* As a process does that ends, some time before others see its end. */
static void stop_listening(void)
{
    for (int fd = 3; fd < 64; fd++) {
        int listens = 0;
        socklen_t size = sizeof listens;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
            shutdown(fd, SHUT_RD);
    }
    atomic_store(ending, 1);
}

static void body(const struct plan *plan, uint32_t rank)
{
    struct rank r;
    uint32_t turn = 0;
    accl_buffer *buffer;
    while (plan->order[turn] != rank)
        turn++;
    wait_for(begin, turn + 1);
    rank_open(&r, job, rank, RANKS, ACCL_MEMORY_UNIFIED, 4, 1024);
    CHECK(accl_buffer_create(r.device, 4096, 0, ACCL_BUFFER_ZERO, &buffer) == ACCL_OK);
    set_timeout(&r, TIME_LIMIT_MS);
    atomic_fetch_add(come, 1);
    if (plan->how == LEAVES && rank == plan->victim) {
        /* At once, before its other thread has answered those who asked meanwhile. */
        while (!atomic_load(ending))
            continue;
        rank_close(&r);
        atomic_store(ended, 1);
        wait_for(answered, RANKS - 1);
        _exit(0);
    }
    if (plan->how == FADES && rank == plan->victim) {
        wait_for(come, plan->early);
        stop_listening();
    }
    wait_for(ended, 1);
    /* It tells what it knows without calls of its own. */
    if (plan->how == LEAVES && plan->stopped == SECOND && turn == 1) {
        atomic_fetch_add(answered, 1);
        wait_for(answered, RANKS - 1);
        _exit(0);
    }
    double began = seconds();
    struct accl_call call = make_call(plan->operation, 10, ACCL_FLOAT32);
    call.root_src_dst = plan->victim;
    call.address[0] = call.address[2] = accl_buffer_address(buffer);
    uint32_t bits = run_call(&r, &call);
    double took = seconds() - began;
    if (!(bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(PEER_GAVE_UP_ERROR))) || took > 5) {
        fprintf(stderr, "plan %d, operation %u, rank %u ends: rank %u has 0x%x after %.2f s: %s\n",
                (int)(plan - plans), plan->operation, plan->victim, rank, bits, took,
                accl_error_message());
        atomic_store(answered, RANKS); /* nobody waits for this one */
        _Exit(1);
    }
    /* One that starts late may have it from this rank alone. */
    atomic_fetch_add(answered, 1);
    wait_for(answered, RANKS - 1);
    rank_close(&r);
    accl_buffer_free(buffer);
}

/* Ranks come one after the other, the victim ends, and those that are left come. */
static void carry_out(const struct plan *plan, const pid_t *pids)
{
    uint32_t early = plan->early ? plan->early : RANKS;
    pid_t victim = pids[plan->victim];
    for (uint32_t turn = 0; turn < early; turn++) {
        atomic_store(begin, turn + 1);
        wait_for(come, turn + 1);
        if (turn < 2 && plan->stopped & (turn == 0 ? FIRST : SECOND))
            CHECK(kill(pids[plan->order[turn]], SIGSTOP) == 0);
    }
    if (plan->how == FADES) {
        wait_for(ending, 1);
        atomic_store(begin, RANKS);
        wait_for(come, RANKS);
    }
    nanosleep(&(struct timespec){plan->ms / 1000, plan->ms % 1000 * 1000000}, NULL);
    if (plan->how == LEAVES) {
        atomic_store(ending, 1);
        kill(victim, SIGCONT);
        wait_for(ended, 1);
    } else {
        kill(victim, SIGKILL);
        int status;
        waitpid(victim, &status, 0);
        atomic_store(ended, 1);
    }
    atomic_store(begin, RANKS);
    wait_for(come, RANKS);
    for (uint32_t turn = 0; turn < 2; turn++)
        if (plan->order[turn] != plan->victim)
            kill(pids[plan->order[turn]], SIGCONT);
}

int main(void)
{
    begin = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(begin != MAP_FAILED);
    come = begin + 1;
    ending = begin + 2;
    ended = begin + 3;
    answered = begin + 4;
    /* The same name every time: nothing of the job before may be in the way. */
    snprintf(job, sizeof job, "unmet %d", (int)getpid());
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct plan *plan = &plans[i];
        pid_t pids[RANKS];
        memset(begin, 0, 5 * sizeof *begin);
        fflush(NULL);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            pids[rank] = fork();
            if (pids[rank] == 0) {
                body(plan, rank);
                _exit(0);
            }
            CHECK(pids[rank] > 0);
        }
        carry_out(plan, pids);
        int bad = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            int status = 0;
            if (rank != plan->victim || plan->how == LEAVES)
                waitpid(pids[rank], &status, 0);
            bad |= status;
        }
        CHECK(bad == 0);
    }
    puts("ok");
    return 0;
}
