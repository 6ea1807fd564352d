/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions over members, made of pieces: everyone sends its operands to the one that adds
 * them, who does so in the order of the original's ring. The executor; error bits.
 */
#ifndef ACCL_PACKETS_COLLECTIVE_SUM_H
#define ACCL_PACKETS_COLLECTIVE_SUM_H

#include "accl/transport/packets/pieces.h"

uint32_t acclib_packets_reduce(const struct walk *w);
uint32_t acclib_packets_allreduce(const struct walk *w);
uint32_t acclib_packets_reduce_scatter(const struct walk *w);

#endif
