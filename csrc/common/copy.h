/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of memory, for all that transfers data.
 *
 * Some processors copy by `rep movsb` at a small fraction of their speed when the destination lies
 * a little behind the source modulo 4096, as with an array from malloc() (offset 16 of a page) and
 * shared memory (offset 0); the C library's memcpy() uses that instruction from about 2 KiB on. So
 * copies of more than some hundred bytes are done here by loads and stores of the widest vectors
 * that the processor has, which are as quick at all offsets, and small ones by the C library.
 *
 * An ordinary store first fetches the line that it writes to. Where source and destination together
 * are most of the last cache, the lines are gone before anybody reads them: stores past the caches
 * save that traffic, half as much again as the copy itself takes. But some processors make such
 * stores slowly, at a half to a quarter of the others' speed, so the first large copies of a
 * process are made in both ways in turns, and what was quicker is used from then on. Where both
 * fit, the caches are always used.
 *
 * All functions may be called by several threads at once, and access nothing outside of the ranges.
 */
#ifndef OFFCHIP_COPY_H
#define OFFCHIP_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/symbol.h"

/* Copies of fewer bytes are left to the C library, which has a case for each size there. */
#define COPY_VECTORS_LEAST ((size_t)1024)

/* Like memmove(), for at least COPY_VECTORS_LEAST bytes of WHOLE that are copied in pieces. */
void copy_many(void *to, const void *from, size_t bytes, size_t whole) OFFCHIP_SYMBOL(copy_many);

/* Like memmove(), in whichever way is quickest: BYTES of a copy of WHOLE, the pieces of which
 * follow each other. */
static inline void copy_piece(void *to, const void *from, size_t bytes, size_t whole)
{
    if (bytes < COPY_VECTORS_LEAST)
        memmove(to, from, bytes);
    else
        copy_many(to, from, bytes, whole);
}

/* The same for a copy in one piece. */
static inline void copy_memory(void *to, const void *from, size_t bytes)
{
    copy_piece(to, from, bytes, bytes);
}

/* True if a copy of so many bytes may be quicker past the caches. */
bool copy_is_large(size_t bytes) OFFCHIP_SYMBOL(copy_is_large);

/* True if it is known how a copy of so many bytes is made; trials want copies in one piece. */
bool copy_is_settled(size_t whole) OFFCHIP_SYMBOL(copy_is_settled);

/* Like memcpy(), past the caches but for the ends of the range. */
void copy_past_caches(void *to, const void *from, size_t bytes) OFFCHIP_SYMBOL(copy_past_caches);

/* Trials of both ways, from {0}. May be used by several threads at once. */
struct copy_trials {
    _Atomic unsigned made;
    _Atomic uint64_t least[2]; /* the shortest time through the caches, and past them; 0: none */
};

/* True if the next large copy is to go past the caches. *IS_TRIAL: its time is to be added. */
bool copy_trials_choose(struct copy_trials *trials, bool *is_trial)
    OFFCHIP_SYMBOL(copy_trials_choose);
void copy_trials_add(struct copy_trials *trials, bool past, uint64_t bytes, int64_t ns)
    OFFCHIP_SYMBOL(copy_trials_add);

/* A way to copy with vectors: like memmove(), for at least COPY_VECTORS_LEAST bytes. */
struct copy_routine {
    const char *name;
    bool (*is_supported)(void); /* by the processor and the system */
    void (*copy)(void *to, const void *from, size_t bytes);
};

/* Number INDEX of them, widest vectors first; NULL after the last. copy_memory() uses the first
 * that is supported; the others are for tests and benchmarks. */
const struct copy_routine *copy_routine(size_t index) OFFCHIP_SYMBOL(copy_routine);

#endif
