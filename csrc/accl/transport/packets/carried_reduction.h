/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions that MPI is making: see carrier_reduce.h. With the carrier's lock. */
#ifndef ACCL_PACKETS_CARRIED_REDUCTION_H
#define ACCL_PACKETS_CARRIED_REDUCTION_H

#include "accl/transport/packets/carrier_state.h"

/* A reduction under way, with the memory that MPI reads and writes. */
struct carried_reduction {
    struct list_node in_list;
    union mpi_request request;
    bool awaited; /* by a call; else it is freed when MPI has ended it */
    bool ended;
    int error;
    uint64_t capacity;
    _Alignas(16) uint8_t memory[];
};

/* Looks after all of them; whether one has ended. */
bool acclib_carried_reductions_test(struct carrier *c);

#endif
