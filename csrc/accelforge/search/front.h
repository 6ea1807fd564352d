/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h: the best results so far, which all threads may ask.
 */
#ifndef OFFCHIP_FORGE_FRONT_H
#define OFFCHIP_FORGE_FRONT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Points of one structure. Those of different structures say nothing about one another. */
struct forge_front {
    uint64_t structure;
    double *points;
    uint32_t count;
    uint32_t room;
    struct forge_front *next;
};

struct forge_fronts {
    pthread_mutex_t lock;
    uint32_t width;
    struct forge_front *first;
    _Atomic uint64_t version;
};

/* Copy of a front that one thread has. */
struct forge_front_copy {
    double *points;
    uint32_t count;
    uint32_t room;
    uint64_t version;
    uint64_t structure;
};

void forge_fronts_start(struct forge_fronts *fronts, uint32_t width);
void forge_fronts_clear(struct forge_fronts *fronts);

/* Adds COUNT points. A lack of memory leaves some out, which costs time only. */
void forge_fronts_add(struct forge_fronts *fronts, uint64_t structure, const double *points,
                      uint32_t count);

/* Makes COPY that of STRUCTURE, if it is older than the front. */
void forge_front_refresh(struct forge_fronts *fronts, uint64_t structure,
                         struct forge_front_copy *copy);

/* True if a point of the front is better than all that is at least LOW, and by how much does not
 * depend on rounding. */
bool forge_front_beats(const struct forge_front_copy *copy, uint32_t width, const double *low);

#endif
