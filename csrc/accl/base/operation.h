/* SPDX-License-Identifier: BSD-3-Clause */
/* A call whose arguments were checked: types and memory instead of flags and addresses. */
#ifndef ACCL_OPERATION_H
#define ACCL_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "accl.h"
#include "accl/base/communicator.h"

struct operation {
    const struct accl_call *call;
    struct communicator *comm; /* NULL for local operations */
    uint64_t count;
    uint32_t type, wire, arithmetic; /* uncompressed; on the wire; of sums */
    uint32_t source_type, source2_type, result_type;
    uint8_t *source, *source2, *result; /* NULL where this rank has none */
    bool via16;                         /* float32 that is rounded to float16 on the way */
};

/* How many elements OP, of which call and communicator are set, reads and writes on this rank. */
void acclib_operation_extents(const struct operation *op, uint64_t *source, uint64_t *result);

/* COLLECTIVE_NOT_IMPLEMENTED: what makes collectives over WHERE does not know this one. */
uint32_t acclib_operation_refuse(accl_device *device, const struct operation *op,
                                 const char *where);

static inline bool operation_has_root(uint32_t operation)
{
    return operation == ACCL_BCAST || operation == ACCL_SCATTER || operation == ACCL_GATHER ||
           operation == ACCL_REDUCE;
}

/* Whether a collective combines operands. */
static inline bool operation_reduces(uint32_t operation)
{
    return operation == ACCL_REDUCE || operation == ACCL_ALLREDUCE ||
           operation == ACCL_REDUCE_SCATTER;
}

#endif
