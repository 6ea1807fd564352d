/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pruning.h: choices that are kept after a loop, however their tiles differ.
 */
#ifndef OFFCHIP_FORGE_PRUNING_H
#define OFFCHIP_FORGE_PRUNING_H

#include "accelforge/search/searching.h"

/* True if the use of a fan-out is not known yet: until then no choice can be pruned. */
bool forge_pruning_is_speculative(const struct forge_searching *s, const struct forge_stage *stage);

/* Keeps choices that use enough of the fan-outs whose last loop is that of symbol K. */
void forge_keep_used(struct forge_searching *s, uint32_t k);

/* Keeps the choices that promise most, if there are more than the search may have; false if out of
 * memory. */
bool forge_keep_few(struct forge_searching *s, const struct forge_stage *stage);

#endif
