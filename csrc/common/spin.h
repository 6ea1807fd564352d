/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long to look at a word before sleeping.
 *
 * Waking a sleeper on another core costs tens of microseconds, a look a few nanoseconds; but
 * more lookers than cores keep the work itself from running. So there is a board, shared by a
 * host process and its workers, on which everybody who looks for longer than a moment counts;
 * and each waiter adapts its patience to the waits that it has seen.
 */
#ifndef OFFCHIP_SPIN_H
#define OFFCHIP_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define SPIN_BOARD_SEATS 256

/* In shared memory. Advisory: wrong counts cost time, nothing else. */
struct spin_board {
    uint32_t cores;                            /* these two are read when a process starts */
    uint32_t longest_ns;                       /* nobody looks for longer */
    _Atomic uint32_t seats_used;               /* seats 0..seats_used-1 may be non-zero */
    _Atomic int32_t looking[SPIN_BOARD_SEATS]; /* one seat a process; 0 is the host's */
};

/* What a process needs to look at words; in memory of its own. */
struct spin_side {
    struct spin_board *board;
    unsigned seat;
    uint32_t cores;
    int64_t longest_ns;
};

struct spin_patience {
    _Atomic int64_t limit_ns; /* 0: not known yet */
};

/* One wait: zeroed but for the cores, then spin_again() between two looks and spin_end() at last.
 */
struct spin_turn {
    /* Where this side and the one that is waited for were seen last, in memory that both see: the
     * number of a core + 1. NULL where it is not known who will act. */
    _Atomic uint32_t *my_core;
    const _Atomic uint32_t *their_core;
    bool shares_core; /* result: both are on one */
    uint32_t rounds;
    bool seated;
    int64_t start;
    int64_t seen; /* when the clock was read last */
    int64_t limit;
};

enum {
    SPIN_MOMENT_ROUNDS = 40, /* these cost nobody anything and are not counted */
    SPIN_CLOCK_ROUNDS = 16,  /* the clock is read this often */
    SPIN_ALONE_NS = 3000,
    SPIN_SHORTEST_NS = 4000,
    /* Between two looks at the clock: then somebody else had the core meanwhile, ... */
    SPIN_GAP_NS = 20000,
    /* ... and nobody looks for longer than this. */
    SPIN_CONTENDED_NS = 100000,
};

static inline struct spin_side spin_side_of(struct spin_board *board, unsigned seat)
{
    return (struct spin_side){
        .board = board, .seat = seat, .cores = board->cores, .longest_ns = board->longest_ns};
}

static inline void spin_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline bool spin_sit_down(const struct spin_side *side)
{
    struct spin_board *board = side->board;
    uint32_t seats = atomic_load_explicit(&board->seats_used, memory_order_relaxed);
    int64_t total = 0;
    for (uint32_t i = 0; i < seats && i < SPIN_BOARD_SEATS; i++)
        total += atomic_load_explicit(&board->looking[i], memory_order_relaxed);
    /* One core is for whoever does what is waited for. */
    if (total + 1 >= (int64_t)side->cores)
        return false;
    atomic_fetch_add_explicit(&board->looking[side->seat], 1, memory_order_relaxed);
    return true;
}

static inline void spin_stand_up(const struct spin_side *side)
{
    atomic_fetch_sub_explicit(&side->board->looking[side->seat], 1, memory_order_relaxed);
}

static inline int64_t spin_limit(struct spin_patience *p, const struct spin_side *side)
{
    int64_t limit = atomic_load_explicit(&p->limit_ns, memory_order_relaxed);
    return limit ? limit : side->longest_ns;
}

/* To be told how long a waiter slept after it lost patience: if a little more patience would
 * have spared the sleep, it gets all there is, else half of what it had. */
static inline void spin_learn(struct spin_patience *p, const struct spin_side *side,
                              int64_t slept_ns)
{
    int64_t limit = spin_limit(p, side);
    if (limit + slept_ns <= side->longest_ns)
        limit = side->longest_ns;
    else if (limit > SPIN_SHORTEST_NS)
        limit /= 2;
    atomic_store_explicit(&p->limit_ns, limit, memory_order_relaxed);
}

static inline void spin_note_core(struct spin_turn *turn)
{
    if (!turn->my_core)
        return;
    uint32_t core = (uint32_t)(sched_getcpu() + 1);
    if (atomic_load_explicit(turn->my_core, memory_order_relaxed) != core)
        atomic_store_explicit(turn->my_core, core, memory_order_relaxed);
    turn->shares_core = atomic_load_explicit(turn->their_core, memory_order_relaxed) == core;
}

/* Lets a little time pass. False when patience is at its end. */
static inline bool spin_again(struct spin_turn *turn, const struct spin_side *side,
                              struct spin_patience *patience)
{
    uint32_t round = turn->rounds++;
    if (round < SPIN_MOMENT_ROUNDS) {
        spin_relax();
        return true;
    }
    if (round == SPIN_MOMENT_ROUNDS) {
        turn->start = turn->seen = clock_now();
        turn->limit = spin_limit(patience, side);
        turn->seated = spin_sit_down(side);
        spin_note_core(turn);
    } else if (round % SPIN_CLOCK_ROUNDS == 0) {
        int64_t now = clock_now();
        if ((!turn->seated || now - turn->seen > SPIN_GAP_NS) && turn->limit > SPIN_CONTENDED_NS)
            turn->limit = SPIN_CONTENDED_NS;
        turn->seen = now;
        if (now - turn->start >= turn->limit)
            return false;
        spin_note_core(turn);
        /* Even who has a seat may be on a core that somebody else wants. */
        if (now - turn->start > SPIN_ALONE_NS)
            sched_yield();
    }
    if (turn->seated)
        spin_relax();
    else
        sched_yield();
    return true;
}

static inline void spin_end(const struct spin_turn *turn, const struct spin_side *side)
{
    if (turn->seated)
        spin_stand_up(side);
}

#endif
