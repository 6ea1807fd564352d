/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounds.h: what can become of a partial choice of tiles at best.
 */
#ifndef OFFCHIP_FORGE_BOUNDS_H
#define OFFCHIP_FORGE_BOUNDS_H

#include "accelforge/search/searching.h"

/* True if limits may still hold. */
bool forge_bounds_may_hold(const struct forge_searching *s, const struct forge_stage *stage,
                           const double *values, const uint32_t *tiles);

/* Objectives that no choice of the unknown tiles is below: LOW, FORGE_OBJECTIVES of them. */
void forge_bounds_objectives(const struct forge_searching *s, const struct forge_stage *stage,
                             const double *values, const uint32_t *tiles, double *low);

/* Makes s->removed hold for a choice, too. */
void forge_bounds_remove(struct forge_searching *s, const struct forge_stage *stage,
                         const double *values, const uint32_t *tiles);

/* True if a known result, or an incumbent, is better than all that can become of a choice. */
bool forge_bounds_exclude(struct forge_searching *s, const struct forge_stage *stage,
                          const double *values, const uint32_t *tiles);

#endif
