/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spin.h: spinning on a word in shared memory before sleeping.
 *
 * Waking a sleeper on another core costs tens of microseconds, a read of the word a few
 * nanoseconds; but more spinning threads than cores keep the work itself from running. So there is
 * a board in memory that a host process and its workers share, on which each thread registers that
 * spins for longer than a moment; and each waiter adapts its backoff limit to the waits that it has
 * seen.
 *
 * Any thread may wait. Nothing here sleeps or fails: the caller sleeps when spin_again() returns
 * false.
 */
#ifndef OFFCHIP_SPIN_H
#define OFFCHIP_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define SPIN_BOARD_SLOTS 256

/* In shared memory. Advisory: wrong counts cost time, nothing else. */
struct spin_board {
    uint32_t cores;                             /* these two are read when a process starts */
    uint32_t longest_ns;                        /* upper limit of every spin */
    _Atomic uint32_t slots_used;                /* slots 0..slots_used-1 may be non-zero */
    _Atomic int32_t spinning[SPIN_BOARD_SLOTS]; /* threads, one slot per process; 0 is the host's */
};

/* State of a process for spinning; in private memory. */
struct spin_side {
    struct spin_board *board;
    unsigned slot;
    uint32_t cores;
    int64_t longest_ns;
};

struct spin_backoff {
    _Atomic int64_t limit_ns; /* 0: not known yet */
};

/* One wait: zeroed but for the cores, then spin_again() between two reads and spin_end() at last.
 */
struct spin_wait {
    /* Where this side and the one that is waited for ran last, in memory that both map: the number
     * of a core + 1. NULL if it is not known which thread will act. */
    _Atomic uint32_t *my_core;
    const _Atomic uint32_t *their_core;
    bool shares_core; /* result: both are on one */
    uint32_t rounds;
    bool registered;
    int64_t start;
    int64_t seen; /* the last read of the clock */
    int64_t limit;
};

enum {
    SPIN_MOMENT_ROUNDS = 40, /* these disturb no other thread and are not counted */
    SPIN_CLOCK_ROUNDS = 16,  /* the clock is read this often */
    SPIN_ALONE_NS = 3000,
    SPIN_SHORTEST_NS = 4000,
    /* Between two reads of the clock: then another thread had the core meanwhile, ... */
    SPIN_GAP_NS = 20000,
    /* ... and no thread spins for longer than this. */
    SPIN_CONTENDED_NS = 100000,
};

static inline struct spin_side spin_side_of(struct spin_board *board, unsigned slot)
{
    return (struct spin_side){
        .board = board, .slot = slot, .cores = board->cores, .longest_ns = board->longest_ns};
}

static inline void spin_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* `yield` takes no time on most */
#endif
}

static inline bool spin_register(const struct spin_side *side)
{
    struct spin_board *board = side->board;
    uint32_t slots = atomic_load_explicit(&board->slots_used, memory_order_relaxed);
    int64_t total = 0;
    for (uint32_t i = 0; i < slots && i < SPIN_BOARD_SLOTS; i++)
        total += atomic_load_explicit(&board->spinning[i], memory_order_relaxed);
    /* One core is left for the thread that is waited for. */
    if (total + 1 >= (int64_t)side->cores)
        return false;

    atomic_fetch_add_explicit(&board->spinning[side->slot], 1, memory_order_relaxed);
    return true;
}

static inline void spin_unregister(const struct spin_side *side)
{
    atomic_fetch_sub_explicit(&side->board->spinning[side->slot], 1, memory_order_relaxed);
}

static inline int64_t spin_limit(struct spin_backoff *p, const struct spin_side *side)
{
    int64_t limit = atomic_load_explicit(&p->limit_ns, memory_order_relaxed);
    return limit ? limit : side->longest_ns;
}

/* To be called after a sleep that followed a spin: if a longer spin within the limit of the board
 * would have avoided it, the backoff limit becomes that limit, else it is halved. */
static inline void spin_learn(struct spin_backoff *p, const struct spin_side *side,
                              int64_t slept_ns)
{
    int64_t limit = spin_limit(p, side);
    if (limit + slept_ns <= side->longest_ns)
        limit = side->longest_ns;
    else if (limit > SPIN_SHORTEST_NS)
        limit /= 2;
    atomic_store_explicit(&p->limit_ns, limit, memory_order_relaxed);
}

static inline void spin_note_core(struct spin_wait *wait)
{
    if (wait->my_core == NULL)
        return;
    uint32_t core = (uint32_t)(sched_getcpu() + 1);
    if (atomic_load_explicit(wait->my_core, memory_order_relaxed) != core)
        atomic_store_explicit(wait->my_core, core, memory_order_relaxed);
    wait->shares_core = atomic_load_explicit(wait->their_core, memory_order_relaxed) == core;
}

/* Lets a little time pass. False when the backoff limit is reached: the caller should sleep. */
static inline bool spin_again(struct spin_wait *wait, const struct spin_side *side,
                              struct spin_backoff *backoff)
{
    uint32_t round = wait->rounds++;
    if (round < SPIN_MOMENT_ROUNDS) {
        spin_relax();
        return true;
    }

    if (round == SPIN_MOMENT_ROUNDS) {
        wait->start = wait->seen = clock_now();
        wait->limit = spin_limit(backoff, side);
        wait->registered = spin_register(side);
        spin_note_core(wait);
    } else if (round % SPIN_CLOCK_ROUNDS == 0) {
        int64_t now = clock_now();
        if ((!wait->registered || now - wait->seen > SPIN_GAP_NS) &&
            wait->limit > SPIN_CONTENDED_NS)
            wait->limit = SPIN_CONTENDED_NS;
        wait->seen = now;
        if (now - wait->start >= wait->limit)
            return false;

        spin_note_core(wait);
        /* Even a registered thread may be on a core that another thread needs. */
        if (now - wait->start > SPIN_ALONE_NS)
            sched_yield();
    }

    if (wait->registered)
        spin_relax();
    else
        sched_yield();
    return true;
}

static inline void spin_end(const struct spin_wait *wait, const struct spin_side *side)
{
    if (wait->registered)
        spin_unregister(side);
}

#endif
