/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds of collectives whose operands are arrays of the caller: each member fills a slot with the
 * next elements, for each reader where they differ, and copies or reduces what the others have
 * filled. All members have the same elements in a round.
 *
 * The executor calls these functions; those that return error bits may wait.
 */
#ifndef ACCL_COLLECTIVE_ROUNDS_H
#define ACCL_COLLECTIVE_ROUNDS_H

#include "accl/transport/shm/direct.h"

uint64_t acclib_rounds_count(const struct operation *op);

/* The elements [*AT, *AT + the result) of a part that go in ROUND. */
uint64_t acclib_round_range(const struct operation *op, uint64_t round, uint64_t *at);

/* Fills the slot for ROUND, which READER (or LANE_ALL_READ) reads; or all of them. */
uint32_t acclib_round_fill(const struct direct *d, uint64_t round, uint32_t reader);
uint32_t acclib_rounds_fill_all(const struct direct *d, uint32_t reader);

/* Copies what member INDEX fills with elements of TYPE for this rank to TO, where those of round 0
 * begin: in ROUND; or in all, each of which is taken. */
uint32_t acclib_round_fetch(const struct direct *d, uint32_t index, uint32_t type, uint64_t round,
                            uint8_t *to);
uint32_t acclib_rounds_fetch_all(const struct direct *d, uint32_t index, uint32_t type,
                                 uint8_t *to);
/* Copies this rank's own elements of ROUND, of part PART of its source. */
void acclib_round_copy_own(const struct direct *d, uint32_t part, uint64_t round, uint8_t *to);

/* The operands of ROUND, by member: of this rank, those of part PART of its source. TYPES are of
 * the members' elements. What the others gave stays until the round is taken. */
uint32_t acclib_round_operands(const struct direct *d, uint32_t part, uint64_t round,
                               const uint8_t *types, const uint8_t **operands);

#endif
