/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traffic.h: what holders exchange and reserve, as polynomials.
 */
#ifndef OFFCHIP_FORGE_TRAFFIC_H
#define OFFCHIP_FORGE_TRAFFIC_H

#include "accelforge/search/symbols.h"

/* Fills what M has by holder, for the holders of one tensor. */
void forge_traffic_count(struct forge_making *m, const struct forge_path *path);

/* Multiplies a polynomial. */
void forge_scale(struct forge_making *m, struct forge_polynomial *polynomial,
                 const struct forge_monomial *factor);

#endif
