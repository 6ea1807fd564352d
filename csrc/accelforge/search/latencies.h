/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * latencies.h: the latency formula of a component as polynomials, the largest of which counts.
 */
#ifndef OFFCHIP_FORGE_LATENCIES_H
#define OFFCHIP_FORGE_LATENCIES_H

#include "accelforge/model/problem.h"
#include "accelforge/search/polynomial.h"

/* A formula has no more pieces; one that would have is opaque. */
#define FORGE_MAX_PIECES 16

struct forge_latency {
    struct forge_polynomial pieces[FORGE_MAX_PIECES];
    uint32_t piece_count;
    bool opaque; /* it is no maximum of sums: there are no pieces */
    bool grows;  /* opaque: more calls never make it smaller */
};

/* CALLS: the calls of each action of LEVEL by one instance. */
void forge_latency_make(struct forge_latency *latency, struct forge_ring *ring,
                        const struct forge_problem *problem, const struct forge_level *level,
                        const struct forge_polynomial *calls);

#endif
