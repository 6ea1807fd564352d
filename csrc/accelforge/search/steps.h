/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steps.h: the tiles of one loop, for all choices of the tiles inside, and pruning of what that
 * gives.
 */
#ifndef OFFCHIP_FORGE_STEPS_H
#define OFFCHIP_FORGE_STEPS_H

#include "accelforge/search/searching.h"

/* Chooses the tile of symbol K: the best choices of s->now with each of its tiles become s->now,
 * and s->stage one more. FORGE_OK if *stop is set, too: then s->stage tells whether that is so. */
enum forge_status forge_step_loop(struct forge_searching *s, const struct forge_plan *plan,
                                  uint32_t k);

#endif
