/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_counts.h: limits of the number of loops that have more than one iteration.
 */
#ifndef OFFCHIP_FORGE_LOOP_COUNTS_H
#define OFFCHIP_FORGE_LOOP_COUNTS_H

#include "accelforge/search/searching.h"

/* True if there are limits. */
bool forge_loop_counts_limit(const struct forge_searching *s);

/* True if the loops so far are something to compare choices by: fused ones are keys anyway. */
bool forge_loop_counts_compare(const struct forge_searching *s);

/* True if a loop has more than one iteration, and that is known: the symbols below KNOWN are. */
bool forge_loop_counts_repeats(const struct forge_searching *s, const struct forge_plan *plan,
                               uint32_t loop, uint32_t known, const uint32_t *tiles);

/* True if limits hold for the symbols below KNOWN, after the last of them was chosen. */
bool forge_loop_counts_hold(const struct forge_searching *s, const struct forge_plan *plan,
                            uint32_t known, const uint32_t *tiles);

/* True if fused loops that must have more than one iteration do, after SYMBOL was chosen. */
bool forge_loop_counts_must(const struct forge_searching *s, uint32_t symbol,
                            const uint32_t *tiles);

#endif
