/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phase.h: how long the cores of a team take from one barrier to the next, and how they wait for a
 * lock. docs/veo_time.md says what is modelled.
 *
 * Times are cycles. Pure; the caller sees to it that one thread at a time uses a phase or a queue.
 * Nothing blocks.
 */
#ifndef OFFCHIP_VE_TIME_PHASE_H
#define OFFCHIP_VE_TIME_PHASE_H

#include "veo/time/meter.h"

/* How far a core has come: differences of two of these are what it did in between. */
struct ve_progress {
    double core_cycles;
    uint64_t bytes;
};

struct ve_phase {
    double start;
    double slowest; /* when the last core came to its end */
    double core_cycles, bytes;
};

void ve_phase_start(struct ve_phase *phase, double start);

/* A core comes to the end of the phase. *SINCE is what it had done when that began; it is set to
 * what it has done now. */
void ve_phase_arrive(struct ve_phase *phase, const struct ve_meter *meter,
                     struct ve_progress *since);

/* When all may go on, which starts the next phase. */
double ve_phase_end(struct ve_phase *phase, const struct ve_time_model *model);

struct ve_progress ve_progress(const struct ve_meter *meter);

/* Times at which a lock is held, in their order. The oldest are forgotten. */
enum { VE_QUEUE_HOLDS = 256 };

struct ve_queue {
    uint32_t count;
    struct {
        double begin, end;
    } holds[VE_QUEUE_HOLDS];
};

/* Holds the lock for DURATION by a core that came at ARRIVED: when that begins. */
double ve_queue_hold(struct ve_queue *queue, double arrived, double duration);

#endif
