/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that compute nothing, made of pieces. The executor; error bits. */
#ifndef ACCL_PACKETS_COLLECTIVE_COPY_H
#define ACCL_PACKETS_COLLECTIVE_COPY_H

#include "accl/transport/packets/pieces.h"

uint32_t acclib_packets_barrier(const struct walk *w);
uint32_t acclib_packets_bcast(const struct walk *w);
uint32_t acclib_packets_scatter(const struct walk *w);
uint32_t acclib_packets_gather(const struct walk *w);
uint32_t acclib_packets_allgather(const struct walk *w);
uint32_t acclib_packets_alltoall(const struct walk *w);

#endif
