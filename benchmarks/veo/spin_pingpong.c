/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spin_pingpong.c: round trips between two processes that spin on shared memory.
 *
 * The least that a call into another process can cost. Usage: spin_pingpong BATCH ROUNDS; prints
 * the nanoseconds of a round trip for each round.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct channel {
    _Alignas(128) _Atomic uint64_t ping;
    _Alignas(128) _Atomic uint64_t pong;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wait_for(_Atomic uint64_t *word, uint64_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        __builtin_ia32_pause();
}

int main(int argc, char **argv)
{
    uint64_t batch = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
    struct channel *c =
        mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED)
        return 1;
    uint64_t total = batch * (rounds + 1);
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint64_t i = 1; i <= total; i++) {
            wait_for(&c->ping, i);
            atomic_store_explicit(&c->pong, i, memory_order_release);
        }
        _exit(0);
    }
    printf("spin");
    uint64_t i = 0;
    for (uint64_t round = 0; round <= rounds; round++) {
        double start = now_ns();
        for (uint64_t end = i + batch; i < end;) {
            i++;
            atomic_store_explicit(&c->ping, i, memory_order_release);
            wait_for(&c->pong, i);
        }
        /* The first round warms up. */
        if (round > 0)
            printf(" %.1f", (now_ns() - start) / (double)batch);
    }
    printf("\n");
    return 0;
}
